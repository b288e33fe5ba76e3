/** Names in comments exist in the code, so that a rename cannot leave an outdated comment. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

const ROOT = join(import.meta.dir, '../..')
/** Names of other programs that comments mention. */
const FOREIGN = new Set(['precompressed', 'file_server', 'zstdcat', 'fdatasync', 'AWS_SESSION_TOKEN'])
/** How far after a comment its parameters may be, in characters. */
const SIGNATURE = 900

const filesOf = (pattern: string): string[] =>
  [...new Bun.Glob(pattern).scanSync({ cwd: ROOT })].filter((file) => !file.includes('node_modules'))
const read = (file: string): Promise<string> => Bun.file(join(ROOT, file)).text()
const wordsIn = (text: string): string[] => text.match(/[A-Za-z_$][\w$]*/g) ?? []

interface Comment {
  readonly file: string
  readonly text: string
  /** The code after the comment. */
  readonly next: string
}

/** Splits a file into code and comments. */
function split(file: string, source: string): { code: string; comments: Comment[] } {
  const found = parseSync(file, source).comments
  let [code, end] = ['', 0]
  for (const comment of found) {
    code += source.slice(end, comment.start)
    end = comment.end
  }
  const comments = found.map(({ value: text, end }) => ({
    file,
    text,
    next: source.slice(end, end + SIGNATURE),
  }))
  return { code: code + source.slice(end), comments }
}

/** Names in backticks that do not occur in the code. */
const unknownIn = ({ file, text }: Comment, known: ReadonlySet<string>): string[] =>
  [...text.matchAll(/`([A-Za-z_$][\w$]*)(?:\([^`]*\))?`/g)]
    .map(([, name]) => name!)
    .filter((name) => !known.has(name) && !FOREIGN.has(name))
    .map((name) => `${file}: ${name}`)

/**
 * Documented parameters that are missing in the signature. If a group has documented parts, the group itself
 * is skipped.
 */
const withoutParameter = ({ file, text, next }: Comment): string[] =>
  [...text.matchAll(/@param (\w+)/g)]
    .map(([, name]) => name!)
    .filter((name) => !text.includes(`@param ${name}.`) && !new RegExp(`\\b${name}\\b`).test(next))
    .map((name) => `${file}: @param ${name}`)

test('every name in a comment stands in the code', async () => {
  const known = new Set<string>()
  const comments: Comment[] = []
  for (const file of filesOf('{services,shared,proxy}/**/*.{ts,tsx}')) {
    const parts = split(file, await read(file))
    for (const word of wordsIn(parts.code)) known.add(word)
    comments.push(...parts.comments)
  }
  for (const file of filesOf('{services,shared,proxy}/**/*.{lua,js,css,sql,json,caddy}').concat(
    'package.json',
  ))
    for (const word of wordsIn(await read(file))) known.add(word)
  expect(comments.length).toBeGreaterThan(1_000)
  expect(comments.flatMap((comment) => unknownIn(comment, known))).toEqual([])
  expect(comments.flatMap(withoutParameter)).toEqual([])
})
