/** No sentence of one language appears in the texts of another. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LOCALES = join(import.meta.dir, '../../shared/locales')
const TEXTS = /'(?:[^'\\\n]|\\.)*'|`[^`]*`/g
/** Four words in a row: product names and commands are shorter. */
const ENGLISH = /(?:\b[A-Za-z]{2,}[,.:]? ){3}[a-z]{2,}/

/** Texts of a source file, without comments and inserted values. */
const textsOf = (source: string): string[] =>
  (source.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '').match(TEXTS) ?? []).map((text) =>
    text.replaceAll(/\$\{[^}]*\}/g, '1'),
  )

test.each(['zh-hant', 'ja'])('the words in %s hold no English sentence', (language) => {
  const files = readdirSync(join(LOCALES, language))
  const found = files.flatMap((file) =>
    textsOf(readFileSync(join(LOCALES, language, file), 'utf8')).filter((text) => ENGLISH.test(text)),
  )
  expect(found).toEqual([])
})
