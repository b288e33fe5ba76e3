/** The settings of an event as a file, from which another event can be set up. */
import { unzipSync } from 'fflate'
import type { EventSettings } from '../../event.ts'
import type { FilePart } from './event-parts.ts'

/** All parts: a missing one does not compile. */
const ALL_PARTS: Readonly<Record<FilePart, true>> = {
  name: true,
  route: true,
  contact: true,
  notice: true,
  languages: true,
  words: true,
  survey: true,
  messages: true,
}
const PARTS = Object.keys(ALL_PARTS) as readonly FilePart[]

/** Format of the file. A release that changes what a reader must know increments it. */
const FORMAT = 1
const MARK = 'event_settings'
export const SETTINGS_FILE = 'settings.json'

/** Size limit of a settings file: the sum of the limits of its parts. */
const MAX_SETTINGS_BYTES = 2 * 1024 * 1024
/** A larger archive is not loaded into the page's memory. */
const MAX_ARCHIVE_BYTES = 1024 * 1024 * 1024

/**
 * - `too-large`: the archive has more than 1 GB, or its settings more than 2 MB
 * - `damaged`: an archive or JSON that cannot be read
 * - `foreign`: not the settings of an event
 * - `newer`: written by a newer release
 */
export type SettingsFileFault = 'too-large' | 'damaged' | 'foreign' | 'newer'

/** Parts as stored in the file. The service validates them. */
export interface SettingsFile {
  readonly timeZone: string | null
  readonly parts: readonly (readonly [part: FilePart, value: object])[]
}

/** @param madeAt ISO 8601 */
export const settingsFileOf = (settings: EventSettings, timeZone: string, madeAt: string): string =>
  JSON.stringify(
    {
      [MARK]: FORMAT,
      made_at: madeAt,
      time_zone: timeZone,
      parts: Object.fromEntries(PARTS.map((part) => [part, settings[part].value])),
    },
    null,
    2,
  )

const DATES: ReadonlySet<string> = new Set(['starts_at', 'ends_at', 'kept_until', 'planned_at'])

/**
 * Reads an archive or a settings file. Past dates become null: they belong to the former event.
 * @param nowMs epoch milliseconds
 */
export async function readSettingsFile(file: Blob, nowMs: number): Promise<SettingsFile | SettingsFileFault> {
  if (file.size > MAX_ARCHIVE_BYTES) return 'too-large'
  const bytes = contentOf(new Uint8Array(await file.arrayBuffer()))
  if (typeof bytes === 'string') return bytes
  if (bytes.length > MAX_SETTINGS_BYTES) return 'too-large'
  const given = parsed(new TextDecoder().decode(bytes), nowMs)
  if (given === undefined) return 'damaged'
  if (!isObject(given) || !Object.hasOwn(given, MARK) || !isObject(given['parts'])) return 'foreign'
  const { [MARK]: format, time_zone: timeZone, parts } = given
  if (typeof format !== 'number' || !Number.isInteger(format) || format < 1) return 'foreign'
  if (format > FORMAT) return 'newer'
  const known = PARTS.flatMap((name) => {
    const part = Object.hasOwn(parts, name) ? parts[name] : undefined
    return isObject(part) ? [[name, part] as const] : []
  })
  if (known.length === 0) return 'foreign'
  return {
    timeZone: typeof timeZone === 'string' ? timeZone : null,
    parts: known,
  }
}

/** A part of a file, with its null dates replaced by the stored ones. Dates of stations are not replaced. */
export const withStoredDates = (value: object, stored: object): object =>
  Object.fromEntries(
    Object.entries(value).map(([field, given]: [string, unknown]) => [
      field,
      given === null && DATES.has(field) ? (Reflect.get(stored, field) ?? null) : given,
    ]),
  )

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsed(text: string, nowMs: number): unknown {
  try {
    return JSON.parse(text, (key, value: unknown) =>
      DATES.has(key) && !(typeof value === 'string' && Date.parse(value) > nowMs) ? null : value,
    )
  } catch {
    return undefined
  }
}

/** The settings inside an archive; other bytes unchanged. */
function contentOf(bytes: Uint8Array): Uint8Array | SettingsFileFault {
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return bytes
  let isTooLarge = false
  try {
    const files = unzipSync(bytes, {
      filter({ name, originalSize }) {
        if (name !== SETTINGS_FILE) return false
        isTooLarge = originalSize > MAX_SETTINGS_BYTES
        return !isTooLarge
      },
    })
    return isTooLarge ? 'too-large' : (files[SETTINGS_FILE] ?? 'foreign')
  } catch {
    return 'damaged'
  }
}
