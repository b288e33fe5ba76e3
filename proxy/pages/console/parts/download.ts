/** Files that the operator saves. They are created in the page and sent nowhere. */
import { eventName } from '../event.ts'
import { type Cell, csvOf } from './csv.ts'
import { endOfId } from './pilgrim-link.tsx'

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

/**
 * Characters replaced in file names: all but letters, digits and a few signs. Systems and browsers reject
 * some of the others, and direction marks would disguise the name.
 */
const NOT_IN_NAMES = /[^\p{L}\p{M}\p{N}_.-]+/gu

const NAME_MAX = 60
/** Trims dots and hyphens: a name that begins with a dot is hidden. */
const namePart = (text: string): string =>
  Array.from(text.replaceAll(NOT_IN_NAMES, '-'))
    .slice(0, NAME_MAX)
    .join('')
    .replaceAll(/^[.-]+|[.-]+$/g, '')

/** `林怡君-1f3c20.gpx`: identifies the person. */
export const personFileName = (name: string | null, userId: string, extension: 'json' | 'gpx'): string =>
  `${[name ?? '', endOfId(userId)]
    .map((part) => namePart(part))
    .filter((part) => part !== '')
    .join('-')}.${extension}`

/** `procession-2026-04-12-1400-大甲媽祖遶境.csv`: content, time, and event. */
export const fileName = (what: string, when: string, extension: 'csv' | 'pdf' | 'png' | 'zip'): string =>
  `${[what, when.replaceAll(':', '').replace(' ', '-'), namePart(eventName.value)]
    .filter((part) => part !== '')
    .join('-')}.${extension}`

export const saveCsv = (rows: readonly (readonly Cell[])[], name: string): void =>
  saveBlob(new Blob([csvOf(rows)], { type: 'text/csv' }), name)
