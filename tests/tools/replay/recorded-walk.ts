/** Generated walks for the tests of the replay. */
import type { RecordedPoint } from '#shared/core/recorded-file/read-recorded-file.ts'

/** A degree of latitude in metres, precise enough for choosing speeds. */
const M_PER_DEGREE = 111_195

/** A walk due north: a point every `stepS` seconds at `kmh`, from 2026-04-12T01:00:00Z. */
export function walk(
  count: number,
  { stepS = 20, kmh = 4.5 }: { readonly stepS?: number; readonly kmh?: number } = {},
): RecordedPoint[] {
  const start = Date.parse('2026-04-12T01:00:00Z')
  return Array.from({ length: count }, (_, i) => ({
    lat: 24 + (i * stepS * kmh) / 3.6 / M_PER_DEGREE,
    lng: 120.5,
    t: start + i * stepS * 1_000,
    altitude: 10 + i,
    accuracy: null,
  }))
}

/** The walk as GPX 1.1, one track of one segment. */
export function gpxOf(points: readonly RecordedPoint[]): string {
  const elements = points.map(
    ({ lat, lng, t, altitude }) =>
      `<trkpt lat="${lat}" lon="${lng}"><ele>${altitude}</ele><time>${new Date(t).toISOString()}</time></trkpt>`,
  )
  return gpx(`<trk><trkseg>${elements.join('\n')}</trkseg></trk>`)
}

/** A GPX 1.1 document around its content. */
export const gpx = (content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">${content}</gpx>`
