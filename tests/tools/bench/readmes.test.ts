/** The pages quote the figures of one run: those in the table that `bun run bench --markdown` printed. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')
const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text()

test('both pages name as many met goals as the table of the benchmark has', async () => {
  const page = await read('tests/tools/bench/README.md')
  const met = page.match(/✓ *\|$/gm)!.length
  const others = page.match(/[✗?] *\|$/gm)!.length
  const sentence = `${met} of ${met + others} goals are met`
  for (const text of [page, await read('README.md')]) {
    // Lines break anywhere.
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
