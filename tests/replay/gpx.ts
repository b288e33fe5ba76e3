/** Parses GPX 1.0 and 1.1: all track points with a position and a time, in order of time. */
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { Latitude, Longitude, Measure } from '#shared/contracts/fields.ts'
import { ReplayFault } from './phone.ts'

/** A recorded point: degrees, metres, epoch milliseconds. */
export interface TrackPoint {
  readonly lat: number
  readonly lng: number
  readonly t: number
  readonly altitude: number | null
}

/** A track as a phone records it: ordered by time, one point per instant. */
export interface Recording {
  readonly points: readonly TrackPoint[]
  readonly tracks: number
  readonly segments: number
  /** Points of the file that are not replayed. */
  readonly skipped: {
    /** Without a valid time. */
    readonly untimed: number
    /** Without a valid latitude and longitude. */
    readonly misplaced: number
    /** At the same instant as an earlier point of the file. */
    readonly repeated: number
  }
}

// Values stay text: "1e3" in a name is no number, and a position is read by its own rule. Entities stay
// unexpanded: no place or time needs one, and a file from anywhere cannot blow up in memory.
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
})

/**
 * Reads the track points of a GPX document. Waypoints and routes are ignored, because they are plans.
 * @throws ReplayFault if the text is not well-formed XML, not GPX, or holds no point that can be replayed
 */
export function parseGpx(xml: string): Recording {
  const tracks = childrenOf(rootOf(xml), 'trk')
  const segments = tracks.flatMap((track) => childrenOf(track, 'trkseg'))
  const elements = segments.flatMap((segment) => childrenOf(segment, 'trkpt'))
  if (elements.length === 0) {
    throw new ReplayFault(
      'The file has no track points (trk/trkseg/trkpt): export the recorded track, not a route.',
    )
  }

  const byTime = new Map<number, TrackPoint>()
  const skipped = { untimed: 0, misplaced: 0, repeated: 0 }
  for (const element of elements) {
    const lat = Latitude.safeParse(numberIn(element, '@lat'))
    const lng = Longitude.safeParse(numberIn(element, '@lon'))
    const altitude = Measure.safeParse(numberIn(element, 'ele'))
    const t = instant(textIn(element, 'time'))
    if (t === null) skipped.untimed++
    else if (!lat.success || !lng.success) skipped.misplaced++
    else if (byTime.has(t)) skipped.repeated++
    else byTime.set(t, { lat: lat.data, lng: lng.data, t, altitude: altitude.data ?? null })
  }
  if (byTime.size === 0) {
    throw new ReplayFault(
      `None of the ${elements.length} track points has both a time and a place: record the track, do not draw it.`,
    )
  }
  const points = [...byTime.values()].sort((a, b) => a.t - b.t)
  return { points, tracks: tracks.length, segments: segments.length, skipped }
}

function rootOf(xml: string): unknown {
  // The parser repairs malformed XML, but a truncated file must be an error, not a shorter walk.
  const verdict = XMLValidator.validate(xml)
  if (verdict !== true) {
    const { msg, line, col } = verdict.err
    const place = Number.isFinite(col) ? `line ${line}, column ${col}` : `line ${line}`
    throw new ReplayFault(
      `The file is not well-formed XML, perhaps cut short (${place}: ${msg.replace(/\s+/g, ' ')}). Export it again.`,
    )
  }
  const document = parser.parse(xml) as Record<string, unknown>
  if (document['gpx'] === undefined) {
    const root = Object.keys(document).find((name) => !name.startsWith('?'))
    throw new ReplayFault(`The file is not GPX: its root element is <${root}>. Export the track as GPX.`)
  }
  return document['gpx']
}

/** Child elements with one name as a list: the parser returns a list only for several. */
function childrenOf(parent: unknown, name: string): readonly unknown[] {
  if (typeof parent !== 'object' || parent === null) return []
  const found = (parent as Record<string, unknown>)[name]
  if (found === undefined) return []
  return Array.isArray(found) ? found : [found]
}

const textIn = (parent: unknown, name: string): string | undefined =>
  childrenOf(parent, name).find((child) => typeof child === 'string')

const numberIn = (parent: unknown, name: string): number => Number(textIn(parent, name)?.trim() || NaN)

/** Epoch milliseconds of an xsd:dateTime; in GPX, a time without a zone is UTC. */
function instant(text: string | undefined): number | null {
  const [, local, zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:?\d\d)?$/i.exec(text?.trim() ?? '') ?? []
  const ms = local === undefined ? NaN : Date.parse(local + (zone ?? 'Z'))
  return Number.isNaN(ms) ? null : ms
}
