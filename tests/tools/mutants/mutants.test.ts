/** The mutation tests. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { equivalentOf, EQUIVALENTS } from './equivalents.ts'
import { mutantsOf, planted } from './mutations.ts'
import { choose } from './options.ts'
import { createSelection, ROOMS, sourcesIn } from './test-selection.ts'
import { runCommand } from '#tests/helpers/process.ts'

const ROOT = join(import.meta.dir, '../../..')
const changed = (text: string): string[] =>
  mutantsOf('a.ts', text).map((mutant) => planted(mutant, text).replace(/\s+/g, ' ').trim())

describe('mutants', () => {
  test.each([
    ['f(a < b)', ['f(((a) <= (b)))', 'f(((a) >= (b)))', ';']],
    ['export const x = a ?? b ?? c', ['((a) && (b)) ?? c', '((a ?? b) && (c))']],
    ['if (a) return1', ['if (true) return1', 'if (false) return1']],
    [
      'export const x = a ? !b : true',
      ['true ? !b : true', 'false ? !b : true', 'a ? b : true', 'a ? !b : false'],
    ],
    ['export const x = and(a, b)', ['and(b)', 'and(a)']],
    [
      'export const x = Math.min(a, b - 1)',
      ['Math.max(a, b - 1)', 'Math.min(a, ((b) + (1)))', 'Math.min(a, b - 2)'],
    ],
    ['export const x = a.filter(b).map(c)', ['a.map(c)']],
    ['await q`SELECT a WHERE b < c`', ['q`SELECT a WHERE b <= c`', ';']],
    ['x += 1', ['x -= 1', ';']],
  ])('of %p', (text, expected) => {
    const found = changed(text)
    for (const mutant of expected) expect(found.some((one) => one.endsWith(mutant))).toBe(true)
    expect(found).toHaveLength(expected.length)
  })

  test.each([
    ['import { a } from "b"'],
    ['log.warn("x", { n: a + b, c: d < e })'],
    ['if (a < b) log.warn("x")'],
    ['type A = B extends true ? C : D'],
    ['export const x = "a" + b'],
    ['export const x = lt(a, b)'],
  ])('none of %p', (text) => expect(changed(text)).toEqual([]))

  test('a position is given by line and column, also after non-Latin text', () => {
    const [mutant] = mutantsOf('a.ts', '// 資料庫 😀\n\n  export const x = !y\n')
    expect(mutant).toMatchObject({ line: 3, column: 20, original: '!y', replacement: 'y' })
  })
})

describe('a sample', () => {
  const things = Array.from({ length: 500 }, (_, i) => i)

  test('is the same for the same seed, in order, and without duplicates', () => {
    const sample = choose(things, 50, 7)
    expect(choose(things, 50, 7)).toEqual(sample)
    expect(choose(things, 50, 8)).not.toEqual(sample)
    expect([...new Set(sample)].sort((a, b) => a - b)).toEqual(sample)
    expect(sample).toHaveLength(50)
  })

  test('is everything when there are not enough, or for 0', () => {
    expect(choose(things, 0, 7)).toEqual(things)
    expect(choose(things, 501, 7)).toEqual(things)
  })
})

test('a wrong number is refused with a sentence that names the option', async () => {
  const command = [process.execPath, 'tests/tools/mutants/run.ts', '--jobs', '0']
  expect(await runCommand(command)).toMatchObject({ code: 2, err: expect.stringContaining('--jobs must be') })
})

describe('the tests of a file', () => {
  const select = createSelection(ROOT)

  test('every file that has a row has tests', () => {
    for (const { source } of ROOMS)
      for (const file of sourcesIn(ROOT, source)) expect(select(file).length).toBeGreaterThan(0)
  })

  test('are those that import it, with the distance', () => {
    expect(select('shared/core/rules/geo.ts')).toContainEqual({
      test: 'tests/rules/geo.test.ts',
      distance: 1,
    })
    expect(select('shared/core/rules/geo.ts').map(({ test }) => test)).not.toContain(
      'tests/rules/levels.test.ts',
    )
  })

  test('are also those of other folders that import it', () => {
    expect(select('services/scheduler/maintenance.ts')).toContainEqual({
      test: 'tests/feedback-media/unnamed-screenshots.test.ts',
      distance: 1,
    })
  })

  test('a path without a row and a path without files are refused', () => {
    expect(() => sourcesIn(ROOT, 'shared/service/http')).toThrow(
      'has no tests in tests/tools/mutants/test-selection.ts',
    )
    expect(() => sourcesIn(ROOT, 'shared/nothing')).toThrow('no source file is at shared/nothing')
  })
})

test('every equivalent is a mutant of the current code', async () => {
  const files = [...new Set(EQUIVALENTS.map(({ file }) => file))]
  const found = new Set<unknown>()
  for (const file of files)
    for (const mutant of mutantsOf(file, await Bun.file(join(ROOT, file)).text()))
      found.add(equivalentOf(mutant))
  expect(EQUIVALENTS.filter((one) => !found.has(one))).toEqual([])
})

describeOnServers('a run', () => {
  test('plants a fault in a copy, and reports the test that detects it (long)', async () => {
    const file = 'shared/core/rules/geo.ts'
    const before = await Bun.file(join(ROOT, file)).text()
    const args = ['--in', file, '--sample', '1', '--seed', '1']
    const { code, out, err } = await runCommand([process.execPath, 'tests/tools/mutants/run.ts', ...args])
    expect(err).toBe('')
    expect(out).toMatch(/^\d+ mutants of 1 files; 1 by --seed 1\n/)
    expect(out).toMatch(
      /\[1\/1\] killed \S+ s {2}shared\/core\/rules\/geo\.ts:\d+:\d+ .* → .*\n {4}tests\/rules\/[a-z-]+\.test\.ts: /,
    )
    expect(out).toEndWith('\n1 of 1 killed (100.0 %)\n')
    expect(code).toBe(0)
    expect(await Bun.file(join(ROOT, file)).text()).toBe(before)
  }, 240_000)
})
