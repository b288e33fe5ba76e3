/** The table of words that an organiser has translated: as a file for spreadsheets, and read back. */
import type { Data } from '#shared/client/index.ts'
import { noFormula } from '#shared/core/rules/csv-formulas.ts'
import { csvOf, recordsOf } from '../../parts/csv.ts'
import { ownName, words } from '../../words.ts'

type Table = Data<'readTranslationTable'>

/** Marks the column of the translation, and says its language. */
const TEXT = 'text:'
const KEY = 'key'

/** @param own the event's own language */
export function translationFile({ language, rows }: Table, own: string): string {
  const { columns, keep, when, longest } = words.value.translation
  const isEnglish = own === 'en' || own === language
  const note = ({ key, placeholders, max }: Table['rows'][number]): string =>
    [
      placeholders.length > 0 ? keep(placeholders.map((name) => `{${name}}`).join(' ')) : null,
      key.includes('[') ? when(key.slice(key.indexOf('[') + 1, -1)) : null,
      longest(max),
    ]
      .filter((part) => part !== null)
      .join(' ')
  return csvOf([
    [KEY, columns.english, ...(isEnglish ? [] : [columns.own(ownName(own))]), TEXT + language, columns.note],
    ...rows.map((row) => [row.key, row.english, ...(isEnglish ? [] : [row.own]), row.text, note(row)]),
  ])
}

/** Text as it was before `noFormula`. */
const withoutMark = (text: string): string =>
  text.startsWith("'") && noFormula(text.slice(1)) === text ? text.slice(1) : text

export interface TranslationFile {
  readonly language: string
  readonly texts: Readonly<Record<string, string>>
  /** Row of each key in the spreadsheet. */
  readonly rows: ReadonlyMap<string, number>
  /** Rows whose key has another text further up. */
  readonly repeated: readonly number[]
}

export type TranslationFault = 'not-utf8' | 'no-table' | 'no-texts'

/** @returns why the file cannot be used, or its texts that are not empty */
export function readTranslation(bytes: Uint8Array): TranslationFile | TranslationFault {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return 'not-utf8'
  }
  const [header = [], ...records] = recordsOf(text, KEY)
  const column = header.findIndex((name) => name.startsWith(TEXT))
  if (column < 0) return 'no-table'
  const texts = new Map<string, string>()
  const rows = new Map<string, number>()
  const repeated: number[] = []
  for (const [i, record] of records.entries()) {
    const [key, given] = [record[0]?.trim() ?? '', withoutMark(record[column] ?? '').trim()]
    if (key === '' || given === '') continue
    if (texts.has(key)) repeated.push(i + 2)
    else {
      texts.set(key, given)
      rows.set(key, i + 2)
    }
  }
  if (texts.size === 0) return 'no-texts'
  return {
    language: header[column]!.slice(TEXT.length).trim(),
    texts: Object.fromEntries(texts),
    rows,
    repeated,
  }
}
