/** The documents agree with the code, and their links lead somewhere. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { REFERENCES } from './references.ts'

const ROOT = join(import.meta.dir, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const DOCUMENTS = [...new Bun.Glob('**/*.md').scanSync({ cwd: ROOT, dot: true })].filter(
  (path) => !/(^|\/)(node_modules|data|\.git)\//.test(path),
)

test.each(Object.entries(REFERENCES))('%s is as `bun run references` writes it', (path, text) => {
  expect(read(path)).toBe(text())
})

/** Anchors of a document's headings, as code hosts generate them. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )

/** Links of a document whose file or heading does not exist. */
function brokenLinks(path: string): string[] {
  const text = read(path).replaceAll(/```[^]*?```/g, '')
  const links = [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(
    ([, link, source]) => link ?? source!,
  )
  return links.filter((link) => {
    if (/^\w+:/.test(link)) return false
    const [file, anchor] = link.split('#')
    const target = file === '' ? path : join(dirname(path), file!)
    if (!existsSync(join(ROOT, target))) return true
    return anchor !== undefined && !anchorsOf(read(target)).has(anchor)
  })
}

test('a link leads to a file and a heading that exist', () => {
  expect(DOCUMENTS.length).toBeGreaterThan(20)
  const broken = DOCUMENTS.flatMap((path) => brokenLinks(path).map((link) => `${path}: ${link}`))
  expect(broken).toEqual([])
})

test.each([
  ['A phone says', 'shared/locales/{en,zh-hant}/*.ts'],
  ['An alert says', 'shared/service/alerts/*.ts'],
])('the runbook’s section “%s” quotes the code in English and Chinese', (heading, files) => {
  const [, section] = new RegExp(`^## ${heading}\\n([^]*?)^## `, 'm').exec(read('services/RUNBOOK.md'))!
  const code = [...new Bun.Glob(files).scanSync({ cwd: ROOT })].map(read).join('\n')
  for (const marked of [/“([^”]+)”/g, /「([^」]+)」/g]) {
    const quotes = [...section!.matchAll(marked)].flatMap(([, quote]) =>
      quote!.split(/ ?… ?/).filter(Boolean),
    )
    expect(quotes.length).toBeGreaterThan(8)
    expect(quotes.filter((quote) => !code.includes(quote.replaceAll(/\s+/g, ' ')))).toEqual([])
  }
})
