/** The report fits on one page, whatever was answered. */
import { describe, expect, test } from 'bun:test'
import { fitQuestions, type Question } from '#proxy/pages/console/views/reports/fit-questions.ts'

const question = (i: number, answers: number, others = 0): Question => ({
  name: `q${i}`,
  ask: null,
  answered: 100,
  others,
  bars: Array.from({ length: answers }, (_, n) => ({
    name: `answer ${n}`,
    value: n,
    shown: `${n}`,
  })),
})
const many = (count: number, answers: number) => Array.from({ length: count }, (_, i) => question(i, answers))
const namesOf = (columns: readonly (readonly Question[])[]) =>
  columns.map((column) => column.map(({ name }) => name).join(' '))

describe('questions on the report’s page', () => {
  test('all answers where they have room, in the order of the questions', () => {
    const { columns, left } = fitQuestions(many(6, 8), 3, 26)
    expect(left).toBe(0)
    expect(namesOf(columns)).toEqual(['q0 q1', 'q2 q3', 'q4 q5'])
    expect(columns.flat().every(({ bars, others }) => bars.length === 8 && others === 0)).toBe(true)
  })

  test('the rarest answers go first, and are counted', () => {
    const { columns, left } = fitQuestions([...many(9, 8), question(9, 8, 5)], 3, 26)
    expect(left).toBe(0)
    expect(columns.flat().map(({ bars, others }) => [bars.length, others])).toEqual([
      ...Array.from({ length: 9 }, () => [4, 4]),
      [4, 9],
    ])
  })

  test('questions go when the fewest answers have no room, and none is taller than its column', () => {
    const { columns, left } = fitQuestions(many(30, 8), 3, 26)
    expect(columns.flat()).toHaveLength(12)
    expect(left).toBe(18)
    expect(fitQuestions([], 3, 26)).toEqual({ columns: [[]], left: 0 })
  })
})
