/** Reads the files that track recorders write, in a page as well as in a command. */
import { isPlace } from '#shared/core/rules/geo.ts'
import { parseIsoTime } from '#shared/core/rules/sent-time.ts'
import { withoutRollover } from '#shared/core/rules/week-rollover.ts'
import { scanXml, XmlFault, type XmlHandler } from './scan-xml.ts'
import { type Collected, FORMATS, type TrackFormat, type WrittenPoint } from './track-formats.ts'
import { PackedFault, unpack } from './unpack.ts'

/** A recorded point: degrees, epoch milliseconds, metres. */
export interface RecordedPoint {
  readonly lat: number
  readonly lng: number
  readonly t: number
  readonly altitude: number | null
  /** Radius of the position; null: the file does not state it. */
  readonly accuracy: number | null
}

/** Number of points of the file that were skipped, by reason. */
export interface LeftOut {
  /** Without a readable time. */
  readonly untimed: number
  /** Without latitude and longitude, or at exactly 0,0, which means no fix. */
  readonly misplaced: number
  /** At the same instant as an earlier point of the file. */
  readonly repeated: number
  /** Before the period. */
  readonly early: number
  /** After the period. */
  readonly late: number
}

/** A recording: points ordered by time, one per instant, at least one. */
export interface RecordedFile {
  readonly ok: true
  readonly format: TrackFormat
  readonly points: readonly RecordedPoint[]
  readonly tracks: number
  readonly segments: number
  readonly leftOut: LeftOut
  /** Points dated 1,024 weeks early, as by some receivers, whose time was corrected. */
  readonly redated: number
}

/**
 * Why a file cannot be read.
 * - `empty`: it has no content
 * - `too-large`: it is, or unpacks to, more than 128 MB
 * - `damaged-archive`: truncated, encrypted, or compressed by an unsupported method
 * - `nothing-inside`, `several-inside` (`count`): a zip archive must hold exactly one GPX, KML or TCX file
 * - `not-xml` (`line`, `reason`): not well-formed, perhaps truncated
 * - `unknown-format` (`root`): XML with another root element, or no XML at all (null)
 * - `no-track`: it has no points of a track; a route or a list of places is a plan
 * - `no-times` (`count`): none of its points has both a time and a place
 * - `outside-period` (`first`, `last`): it was recorded at these times, and no point lies in the period
 */
export type RecordedFileFault = { readonly ok: false } & (
  | { readonly code: 'empty' | 'too-large' | 'damaged-archive' | 'nothing-inside' | 'no-track' }
  | { readonly code: 'several-inside' | 'no-times'; readonly count: number }
  | ({ readonly code: 'outside-period' } & { readonly first: number; readonly last: number })
  | { readonly code: 'not-xml'; readonly line: number; readonly reason: string }
  | { readonly code: 'unknown-format'; readonly root: string | null }
)

/** Plausible times, epoch milliseconds; both ends are included. */
export interface Period {
  readonly from: number
  readonly to: number
}

/**
 * Reads GPX, KML and TCX, plain, gzipped, or alone in a zip archive. The content decides the format, not the file name.
 * @param period plausible times, such as those the service accepts. Default: the period with the most points, extended
 *   by ten days on both sides
 */
export async function readRecordedFile(
  file: Uint8Array,
  period?: Period,
): Promise<RecordedFile | RecordedFileFault> {
  try {
    const text = textOf(await unpack(file))
    if (text === '') return { ok: false, code: 'empty' }
    return text.startsWith('<') ? readTrack(text, period) : { ok: false, code: 'unknown-format', root: null }
  } catch (error) {
    if (error instanceof XmlFault)
      return { ok: false, code: 'not-xml', line: error.line, reason: error.message }
    if (error instanceof FormatFault) return { ok: false, code: 'unknown-format', root: error.root }
    if (!(error instanceof PackedFault)) throw error
    const { code, inside } = error
    return code === 'several-inside' ? { ok: false, code, count: inside } : { ok: false, code }
  }
}

class FormatFault extends Error {
  constructor(readonly root: string) {
    super(root)
  }
}

function readTrack(xml: string, period: Period | undefined): RecordedFile | RecordedFileFault {
  const collected: Collected = { points: [], tracks: 0, segments: 0, hdopIsMetres: false }
  const format = collect(xml, collected)
  const { points: written, tracks, segments, hdopIsMetres } = collected
  if (written.length === 0) return { ok: false, code: 'no-track' }

  const leftOut = { untimed: 0, misplaced: 0, repeated: 0, early: 0, late: 0 }
  const timed: RecordedPoint[] = []
  for (const point of written) {
    const t = timeOf(point.time)
    const place = placeOf(point)
    if (t === null) leftOut.untimed++
    else if (place === null) leftOut.misplaced++
    else
      timed.push({
        ...place,
        t,
        altitude: numberIn(point.altitude),
        accuracy: accuracyOf(point, hdopIsMetres),
      })
  }
  if (timed.length === 0) return { ok: false, code: 'no-times', count: written.length }
  const { from, to } = period ?? periodOfMost(timed)
  const byTime = new Map<number, RecordedPoint>()
  let redated = 0
  for (const point of timed) {
    const t = withoutRollover(point.t, from, to)
    if (t < from) leftOut.early++
    else if (t > to) leftOut.late++
    else if (byTime.has(t)) leftOut.repeated++
    else {
      byTime.set(t, { ...point, t })
      if (t !== point.t) redated++
    }
  }
  const points = inOrder([...byTime.values()])
  if (points.length === 0) {
    const all = inOrder(timed)
    return { ok: false, code: 'outside-period', first: all[0]!.t, last: all.at(-1)!.t }
  }
  return { ok: true, format, points, tracks, segments, leftOut, redated }
}

/** Scans a document with the handler of its format, which the root element names. */
function collect(xml: string, into: Collected): TrackFormat {
  let format: TrackFormat | undefined
  let reader: XmlHandler | undefined
  scanXml(xml, {
    open(path, attribute) {
      if (reader === undefined) {
        const found = FORMATS[path[0]!]
        if (found === undefined) throw new FormatFault(path[0]!)
        format = found.format
        reader = found.read(into)
      }
      reader.open(path, attribute)
    },
    close: (path, text) => reader!.close(path, text),
  })
  return format!
}

/** Removes what some recorders and file systems add around the document. */
export const textOf = (bytes: Uint8Array): string =>
  new TextDecoder(encodingOf(bytes)).decode(bytes).replaceAll(/^[\s\0\uFEFF]+|[\s\0]+$/g, '')

/** By the byte order mark, the first character of the document, or its declaration; otherwise UTF-8. */
function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0x3c && second === 0) return 'utf-16le'
  if (first === 0 && second === 0x3c) return 'utf-16be'
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const declared = /^[^<]*<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)/.exec(head)?.[1] ?? 'utf-8'
  try {
    // A declaration of UTF-16 that can be read as ASCII is wrong.
    return /^utf-?16/i.test(declared) ? 'utf-8' : new TextDecoder(declared).encoding
  } catch {
    return 'utf-8'
  }
}

const inOrder = (points: RecordedPoint[]): RecordedPoint[] => points.sort((a, b) => a.t - b.t)

/** Accepts a space in place of the T or before the zone. A time without a zone is UTC, as in GPX. */
function timeOf(written: string | undefined): number | null {
  const iso = written
    ?.trim()
    .replace(/^(\d{4}-\d\d-\d\d)\s+/, '$1T')
    .replace(/\s+(?=(Z|[+-][\d:]+)$)/i, '')
    .replace(/\s*UTC$/i, 'Z')
  if (iso === undefined) return null
  return parseIsoTime(iso) ?? parseIsoTime(`${iso}Z`)
}

const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i
/** The largest measure that the service accepts, positive or negative. */
const MAX_MEASURE = 1e9

function numberIn(written: string | undefined): number | null {
  const text = written?.trim() ?? ''
  const value = NUMBER.test(text) ? Number(text.replace(',', '.')) : NaN
  return Math.abs(value) <= MAX_MEASURE ? value : null
}

function placeOf(point: WrittenPoint): { readonly lat: number; readonly lng: number } | null {
  const lat = numberIn(point.lat)
  const lng = numberIn(point.lng)
  if (lat === null || lng === null || Math.abs(lat) > 90 || Math.abs(lng) > 180) return null
  return isPlace({ lat, lng }) ? { lat, lng } : null
}

/** Accuracy in metres for a dilution of 1, as recorders assume it. */
const RANGE_ERROR_M = 5

function accuracyOf({ accuracy, hdop }: WrittenPoint, hdopIsMetres: boolean): number | null {
  const metres = numberIn(accuracy) ?? (numberIn(hdop) ?? 0) * (hdopIsMetres ? 1 : RANGE_ERROR_M)
  // 0 and -1 mean an unknown accuracy.
  return metres > 0 ? metres : null
}

const MARGIN_MS = 10 * 86_400_000

/**
 * The period with the most points. Excludes times that a receiver invents before it has a signal, such as 1970, and
 * includes points dated a cycle of weeks early.
 */
function periodOfMost(points: readonly RecordedPoint[]): Period {
  const groups: { from: number; to: number; count: number }[] = []
  for (const t of Float64Array.from(points, (point) => point.t).sort()) {
    const group = groups.at(-1)
    if (group === undefined || t - group.to > MARGIN_MS) groups.push({ from: t, to: t, count: 1 })
    else {
      group.to = t
      group.count++
    }
  }
  const periods = groups.map(({ from, to }) => ({ from: from - MARGIN_MS, to: to + MARGIN_MS }))
  const pointsIn = ({ from, to }: Period): number =>
    groups.reduce((sum, group) => {
      const t = withoutRollover(group.from, from, to)
      return t >= from && t <= to ? sum + group.count : sum
    }, 0)
  // Of two equally large periods, the later.
  return periods.reduce((most, other) => (pointsIn(other) >= pointsIn(most) ? other : most))
}
