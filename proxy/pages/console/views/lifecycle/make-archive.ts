/**
 * The archive of an event: its figures, reports, a picture of the map, and its settings. It is a separate
 * script.
 */
import type { ClientError } from '#shared/client/index.ts'
import { Zip, ZipDeflate } from 'fflate'
import { fullDate } from '../../clock.ts'
import type { EventSettings } from '../../event.ts'
import { entriesOf } from '../../map/cells.ts'
import { loadGround } from '../../map/ground.ts'
import { type Cell, csvOf } from '../../parts/csv.ts'
import { captioned } from '../../parts/picture.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { carbonRows, summaryRows } from '../reports/carbon.tsx'
import { mapDrawing } from '../reports/procession-picture.ts'
import { codeRows } from '../reports/surveys.tsx'
import { rowsOf } from '../reports/time-chart.tsx'
import { timelineRows } from '../reports/timeline.tsx'
import { blobOf } from './draw-poster.ts'
import { SETTINGS_FILE, settingsFileOf } from './event-file.ts'

const DOWNLOAD_MS = 300_000
/** The archive is created in the page's memory. */
const MAX_BYTES = 1024 * 1024 * 1024
/** Cells of about 700 m, as in the reports. */
const ZOOM = 11

interface ArchiveOf {
  readonly settings: EventSettings
  /** IANA name. */
  readonly timeZone: string
  /** Smallest number of pilgrims for a picture: a smaller crowd would reveal where a person was. */
  readonly crowd: number
  readonly now: Date
}

/** @returns the ZIP file; or the service's error for a part of it; null if it would exceed 1 GB */
export async function makeArchive({
  settings,
  timeZone,
  crowd,
  now,
}: ArchiveOf): Promise<Blob | ClientError | null> {
  const [timeline, carbon, surveys, answers, clusters] = await Promise.all([
    client.readTimeline(),
    client.readCarbon(),
    client.listSurveys({ limit: 1 }),
    client.download('listSurveys', {}, { accept: 'text/csv', timeoutMs: DOWNLOAD_MS }),
    client.readClusters({ zoom: ZOOM }),
    loadGround(),
  ])
  for (const answer of [timeline, carbon, surveys, answers, clusters]) if (!answer.ok) return answer.error
  if (!timeline.ok || !carbon.ok || !surveys.ok || !answers.ok || !clusters.ok) return null
  const table = (rows: readonly (readonly Cell[])[]) => new Blob([csvOf(rows)])
  const files: (readonly [name: string, content: Blob])[] = [
    [SETTINGS_FILE, new Blob([settingsFileOf(settings, timeZone, now.toISOString())])],
    ['summary.csv', table(summaryRows(carbon.data, timeline.data.days.at(-1)))],
    ['carbon.csv', table(carbonRows(carbon.data))],
    ['timeline-by-day.csv', table(timelineRows(rowsOf(timeline.data, 'days'), 'days'))],
    ['timeline-by-hour.csv', table(timelineRows(rowsOf(timeline.data, 'hours'), 'hours'))],
    ['survey-codes.csv', table(codeRows(surveys.data))],
    ['private/surveys.csv', answers.data.blob],
  ]
  if (carbon.data.pilgrims >= crowd) files.push(['private/map.png', await mapPicture(clusters.data, now)])
  if (files.reduce((sum, [, { size }]) => sum + size, 0) > MAX_BYTES) return null
  return zipOf(files, now)
}

async function mapPicture(clusters: Parameters<typeof entriesOf>[0], now: Date): Promise<Blob> {
  const cells = entriesOf(clusters, 'count')
  const points = cells.reduce((sum, [, , , count]) => sum + count, 0)
  const { people, reports } = words.peek()
  const places = { front: null, middle: null, tail: null }
  const lines = [fullDate(now.getTime()), `${people.points(points)} · ${reports.places(cells.length)}`]
  return blobOf(
    captioned({ title: words.peek().archive.map, lines }, mapDrawing({ cells, places, seen: null })),
    'image/png',
  )
}

async function zipOf(files: readonly (readonly [name: string, content: Blob])[], now: Date): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = []
  const zip = new Zip((error, chunk) => {
    if (error !== null) throw error
    chunks.push(chunk)
  })
  for (const [name, content] of files) {
    const entry = new ZipDeflate(name)
    entry.mtime = now
    zip.add(entry)
    // Safari cannot iterate the stream of a Blob.
    entry.push(new Uint8Array(await content.arrayBuffer()), true)
  }
  zip.end()
  return new Blob(chunks, { type: 'application/zip' })
}
