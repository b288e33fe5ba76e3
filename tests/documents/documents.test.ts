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

test('a phone says what the runbook quotes', () => {
  const [, section] = /^## A phone says\n([^]*?)^## /m.exec(read('services/RUNBOOK.md'))!
  const english = [...new Bun.Glob('shared/locales/en/*.ts').scanSync({ cwd: ROOT })].map(read).join('\n')
  const quotes = [...section!.matchAll(/“([^”]+)”/g)].flatMap(([, quote]) =>
    quote!.split(/ ?… ?/).filter(Boolean),
  )
  expect(quotes.length).toBeGreaterThan(8)
  expect(quotes.filter((quote) => !english.includes(quote.replaceAll(/\s+/g, ' ')))).toEqual([])
})
