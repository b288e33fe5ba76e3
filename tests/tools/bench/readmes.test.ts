/** The pages quote the figures of one run: those that `bun run bench --write` has written. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Measured } from './measure.ts'
import { withFigures } from './report/pages.ts'

const ROOT = join(import.meta.dir, '../../..')
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text()

test('both pages name as many met goals as the table of the benchmark has', async () => {
  const page = await read('tests/tools/bench/README.md')
  const met = page.match(/✓ *\|$/gm)!.length
  const others = page.match(/[✗?] *\|$/gm)!.length
  const sentence = `${met} of ${met + others} goals are met`
  for (const text of [page, await read('README.md')]) {
    // Lines may break anywhere.
    const counts = text.replaceAll(/\s+/g, ' ').match(/\d+ of (the )?\d+[\w ]{0,9} (goals|missed|met)[\w ]*/g)
    expect(new Set(counts)).toEqual(new Set([sentence]))
  }
})

test('the rates in the first page are figures of the table', async () => {
  const [, section] = /## How fast\n([^]*?)\n## /.exec(await read('README.md'))!
  const rates = section!.match(/\d+,\d{3}/g)!
  const table = await read('tests/tools/bench/README.md')
  expect(rates.filter((rate) => !table.includes(`| ${rate} `))).toEqual([])
})

test('a run replaces the figures of the run before in both pages', async () => {
  const rows = ['check-in-always', 'caddy', 'flush-100000'].map((id, i): Measured => ({
    id,
    title: id,
    unit: '/s',
    figures: [{ name: 'ours', role: 'ours', samples: [1_111 * (i + 1)] }],
    goals: [{ of: null, atLeast: 1, ratios: [1_111], verdict: 'met' }],
  }))
  const first = withFigures(await read('README.md'), rows)
  const page = withFigures(await read('tests/tools/bench/README.md'), rows)
  expect(first).toMatch(/accepts 1,111 check-ins a second[^]*TLS it is 2,222\.[^]*folds 3,333 points/)
  expect(page).toContain('\n| caddy | 2,222 /s |')
  for (const text of [first, page]) expect(text.match(/\d+\sof\s\d+\sgoals/g)).toContain('3 of 3 goals')
  for (const text of [first, page]) expect(withFigures(text, rows)).toBe(text)
  expect(() => withFigures('', rows)).toThrow('no place')
})
