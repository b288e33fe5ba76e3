/** Files that the operator keeps. They are made in the page and never sent anywhere. */
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
 * Runs of what is no letter, digit or plain sign. Systems and browsers refuse some of it, and marks of direction would
 * show another name than the file has.
 */
const NOT_IN_NAMES = /[^\p{L}\p{M}\p{N}_.-]+/gu

const NAME_MAX = 60
/** Without dots and hyphens around it: a name that begins with a dot is hidden. */
const namePart = (text: string): string =>
  Array.from(text.replaceAll(NOT_IN_NAMES, '-'))
    .slice(0, NAME_MAX)
    .join('')
    .replaceAll(/^[.-]+|[.-]+$/g, '')

/** `林怡君-1f3c20.gpx`: whose file it is. */
export const personFileName = (name: string | null, userId: string, extension: 'json' | 'gpx'): string =>
  `${[name ?? '', endOfId(userId)]
    .map((part) => namePart(part))
    .filter((part) => part !== '')
    .join('-')}.${extension}`

/** `procession-2026-04-12-1400-大甲媽祖遶境.csv`: what, of when, and of which event. */
export const fileName = (what: string, when: string, extension: 'csv' | 'pdf' | 'png' | 'zip'): string =>
  `${[what, when.replaceAll(':', '').replace(' ', '-'), namePart(eventName.value)]
    .filter((part) => part !== '')
    .join('-')}.${extension}`

export const saveCsv = (rows: readonly (readonly Cell[])[], name: string): void =>
  saveBlob(new Blob([csvOf(rows)], { type: 'text/csv' }), name)
