/**
 * The README of the pilgrims' app lists every sentence that promises something, and refers to existing tests.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { words as walk } from '#shared/locales/en/walk.ts'

const README = readFileSync(join(import.meta.dir, '../../proxy/pages/walk/README.md'), 'utf8')
const PROMISING =
  /\b(public map|kept|sent|recorded|recording|records|deleted|counted|counts|stops?|stopped|saved|removed|arrived|by itself|by themselves|disconnected|goes on|lost)\b/i

/** The sentences below a part of the texts, by path. A function is shown as its source. */
const sentencesOf = (part: unknown, path: string): [string, string][] =>
  typeof part === 'object' && part !== null
    ? Object.entries(part).flatMap(([key, value]) => sentencesOf(value, path === '' ? key : `${path}.${key}`))
    : [[path, String(part)]]

const tests = new Map(
  [...README.matchAll(/^- ([A-Z]\d): `([^`]+)` (.+)$/gm)].map(([, key, file, name]) => [
    key!,
    { file: file!, name: name! },
  ]),
)
const reasons = new Set([...README.matchAll(/^- ([a-z]): /gm)].map(([, key]) => key!))
const rows = [...README.matchAll(/^\| ([a-z][a-z0-9 ]*?) +\|(.+)\|$/gm)].map(([, promise, cells]) => ({
  promise: promise!,
  cells: cells!.split('|').map((cell) => cell.trim().split(/\s+/)),
}))

test('every sentence that promises something belongs to a promise, and each of these sentences exists', () => {
  const all = sentencesOf(walk, '')
  const listed = [...README.matchAll(/`([a-zA-Z]+(?:\.\w+)+)`/g)].map(([, key]) => key!)
  const named = listed.filter((key) => !key.endsWith('.ts') && !key.endsWith('.tsx'))
  const promising = all.filter(([, text]) => PROMISING.test(text)).map(([path]) => path)
  expect([...new Set(named)].sort()).toEqual([...new Set(promising)].sort())
})

test('no cell is empty, and each names tests or a reason', () => {
  expect(rows.map(({ promise }) => promise)).toHaveLength(8)
  for (const { promise, cells } of rows) {
    expect({ promise, cells: cells.length }).toEqual({ promise, cells: 9 })
    for (const keys of cells)
      expect({ promise, unknown: keys.filter((key) => !tests.has(key) && !reasons.has(key)) }).toEqual({
        promise,
        unknown: [],
      })
    expect(README).toContain(`- **${promise}**: `)
  }
})

test('each of the tests exists', () => {
  const missing = [...tests].filter(
    ([, { file, name }]) => !readFileSync(join(import.meta.dir, file), 'utf8').includes(name),
  )
  expect(missing).toEqual([])
})
