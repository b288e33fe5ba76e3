/** What waits on the device, as GPX 1.1. */
import type { QueuedPoint } from '#shared/client/index.ts'

const tagged = (tag: string, { t, fields: { lat, lng, altitude } }: QueuedPoint): string =>
  `<${tag} lat="${lat}" lon="${lng}">${altitude == null ? '' : `<ele>${altitude}</ele>`}<time>${new Date(t).toISOString()}</time></${tag}>`

/** Check-ins as waypoints, then everything as one track, in order of time. */
export const gpxOf = (held: readonly QueuedPoint[]): Blob =>
  new Blob(
    [
      '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="pilgrimage-event-tracking" xmlns="http://www.topografix.com/GPX/1/1">\n',
      ...held.filter(({ kind }) => kind === 'checkin').map((point) => `${tagged('wpt', point)}\n`),
      '<trk><trkseg>\n',
      ...held.map((point) => `${tagged('trkpt', point)}\n`),
      '</trkseg></trk>\n</gpx>\n',
    ],
    { type: 'application/gpx+xml' },
  )
