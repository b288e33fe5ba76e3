/** Saves a file for the pilgrim. LINE's browser has no downloads; there the phone's share sheet is used. */
import type { QueuedPoint } from '#shared/client/index.ts'
import { showToast } from '../../design/toast.tsx'
import { inLine } from '../session/line-login.ts'
import { words } from '../words.ts'

const SAID_MS = 8_000

async function shareFile(file: File): Promise<void> {
  const { data, me } = words.value
  if (!navigator.canShare?.({ files: [file] }))
    return showToast(data.noFiles, { forMs: SAID_MS, warning: true })
  try {
    await navigator.share({ files: [file] })
  } catch (error) {
    // Browsers allow sharing only right after a tap, and the file came later.
    if ((error as Error).name === 'NotAllowedError')
      showToast(data.fileReady, { action: { name: me.save, run: () => void shareFile(file) } })
  }
}

export async function saveFile(blob: Blob, name: string): Promise<void> {
  if (inLine) return shareFile(new File([blob], name, { type: blob.type }))
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const tagged = (tag: string, { t, fields: { lat, lng, altitude } }: QueuedPoint): string =>
  `<${tag} lat="${lat}" lon="${lng}">${altitude == null ? '' : `<ele>${altitude}</ele>`}<time>${new Date(t).toISOString()}</time></${tag}>`

/** Check-ins as waypoints, then all points as one track in order of time. */
export const gpxOf = (points: readonly QueuedPoint[]): Blob =>
  new Blob(
    [
      '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="pilgrimage-event-tracking" xmlns="http://www.topografix.com/GPX/1/1">\n',
      ...points.filter(({ kind }) => kind === 'checkin').map((point) => `${tagged('wpt', point)}\n`),
      '<trk><trkseg>\n',
      ...points.map((point) => `${tagged('trkpt', point)}\n`),
      '</trkseg></trk>\n</gpx>\n',
    ],
    { type: 'application/gpx+xml' },
  )
