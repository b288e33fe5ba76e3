/**
 * Fills the stores with an event of any size: stored points by the real fold, pending points, live positions, events.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ensureDayPartitions } from '#shared/stores/db/day-partitions.ts'
import { flushSlice } from '#services/scheduler/flush/flush-slice.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { rollUpCells } from '#services/scheduler/flush/roll-up-cells.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import { pack } from '#shared/points/point.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Kv, Pending, Submission } from '#shared/stores/kv/kv.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { createLog } from '#shared/runtime/log.ts'
import { rules, sync } from '#tests/kv/drivers.ts'
import { point } from '#tests/scheduler/walks.ts'

const SECOND_MS = 1_000
const SLICE = 5_000
const SUBMISSIONS_AT_ONCE = 500
/** Share of pilgrims who record with two devices, one of which always sends late. */
const TWO_DEVICES = 0.01
/** Share of the stored points that belong to pilgrims with two devices. */
const THEIRS = 0.5
/** Pending points per pilgrim with late points: the rest is newer than the stored ones. */
const LATE_EACH = 4

export interface Size {
  readonly pilgrims: number
  readonly stored: number
  readonly pending: number
  /** Share of pending points that are older than their pilgrim's stored ones. */
  readonly late: number
  readonly events: number
  readonly journaled: number
}

const calendar = createCalendar('Asia/Taipei')

export const walkerId = (i: number): string => `walker-${String(i).padStart(6, '0')}`

/** Pilgrims with two devices come first. */
export const withTwoDevices = ({ pilgrims }: Size): number => Math.max(1, Math.round(pilgrims * TWO_DEVICES))

/** Stored points per pilgrim with two devices, and per other pilgrim. */
export function pointsEach(size: Size): { readonly two: number; readonly one: number } {
  const two = withTwoDevices(size)
  return {
    two: Math.max(1, Math.round((size.stored * THEIRS) / two)),
    one: Math.max(1, Math.round((size.stored * (1 - THEIRS)) / Math.max(1, size.pilgrims - two))),
  }
}

/**
 * The n-th point of a pilgrim, ten seconds after the previous one; all on the day that begins at `startMs`.
 */
function pointOf(i: number, n: number, startMs: number) {
  const t = startMs + n * 10 * SECOND_MS + (i % 9) * SECOND_MS
  return point({
    sentMs: t,
    recordedMs: t,
    receivedMs: t,
    lat: 24 + (i % 997) / 1_000 + n * 0.00012,
    lng: 120.5 + (i % 89) / 180,
    accuracy: 8,
  })
}

/** Stores each pilgrim's points with the flush's own slices, three at a time. */
export async function fillStored(db: Database, size: Size, startMs: number): Promise<void> {
  await ensureDayPartitions(
    db,
    startMs,
    createLog({}, () => undefined),
  )
  const { two, one } = pointsEach(size)
  const heavy = withTwoDevices(size)
  let next = 0
  const worker = async () => {
    while (next < size.pilgrims) {
      const pending: Pending[] = []
      for (let points = 0; points < SLICE && next < size.pilgrims; next++) {
        const count = next < heavy ? two : one
        const i = next
        pending.push({
          userId: walkerId(i),
          entries: Array.from({ length: count }, (_, n) => pack(pointOf(i, 2 * n, startMs))),
        })
        points += count
      }
      if (pending.length > 0)
        await flushSlice(db, calendar, { epoch: 'scale', partition: 0, pending }, () => startMs)
    }
  }
  await Promise.all([worker(), worker(), worker()])
  await rollUpCells({ db, log: createLog({}, () => {}), metrics: createMetrics('test') }, calendar)
  await db.sql`VACUUM ANALYZE`
}

const submissionOf = (i: number, id: string, numbers: readonly number[], startMs: number): Submission => {
  const points = numbers.map((n) => pointOf(i, n, startMs))
  return {
    id,
    userId: walkerId(i),
    kind: 'sync',
    entries: points.map((one) => pack(one)),
    duplicateKey: '',
    recordedMs: 0,
    position: null,
  }
}

/** Buffers points: for some pilgrims late ones between their stored points, otherwise points after those. */
export async function fillPending(kv: Kv, size: Size, startMs: number): Promise<void> {
  const { two, one } = pointsEach(size)
  const heavy = withTwoDevices(size)
  const late = Math.min(size.pilgrims, Math.round((size.pending * size.late) / LATE_EACH))
  const each = Math.max(1, Math.round((size.pending * (1 - size.late)) / size.pilgrims))
  for (let from = 0; from < size.pilgrims; from += SUBMISSIONS_AT_ONCE) {
    const submissions: Submission[] = []
    for (let i = from; i < Math.min(size.pilgrims, from + SUBMISSIONS_AT_ONCE); i++) {
      const stored = i < heavy ? two : one
      const between =
        i < late ? Array.from({ length: LATE_EACH }, (_, n) => 2 * Math.floor((stored * n) / 5) + 1) : []
      const after = Array.from({ length: each }, (_, n) => 2 * stored + n)
      submissions.push(submissionOf(i, `p${i}`, [...new Set([...between, ...after])], startMs))
    }
    await kv.restore(0, submissions, rules({ retentionMs: 259_200_000 }))
  }
}

/** Puts everyone on the live map, as if seen within the last ten minutes. */
export async function fillPositions(
  kv: Kv,
  { pilgrims }: Pick<Size, 'pilgrims'>,
  nowMs: number,
): Promise<void> {
  for (let from = 0; from < pilgrims; from += 1_000) {
    const positions = Array.from({ length: Math.min(1_000, pilgrims - from) }, (_, k) => {
      const i = from + k
      const t = nowMs - (i % 600) * SECOND_MS
      const position = { t, lat: 23.6 + (i % 9_973) / 10_000, lng: 120.4 + (i % 1_009) / 3_000 }
      return sync(walkerId(i), [], { recordedMs: t, position })
    })
    await kv.restore(0, positions, rules())
  }
}

/** Bot events of the last six days, all handled, as after a week in which everyone wrote to it. */
export async function fillEvents({ sql }: Database, { events }: Size): Promise<void> {
  await sql`
    INSERT INTO outbox (subject, payload, created_at)
    SELECT 'event.line-bot.webhook.received', '{"type":"unfollow"}', now() - n * interval '500 milliseconds' - interval '1 minute'
    FROM generate_series(${events}::int, 1, -1) n`
  await sql`INSERT INTO handled (event_id, subscriber, handled_at) SELECT id, 'line-bot.answer', now() FROM outbox`
  await sql`VACUUM ANALYZE outbox, handled`
}

/** Leaves a full journal of a dead process in a data directory. */
export async function fillJournal(
  dataDir: string,
  { pilgrims, journaled }: Size,
  nowMs: number,
): Promise<void> {
  const dir = join(dataDir, 'journal')
  mkdirSync(dir, { recursive: true })
  const journal = openJournal(dir, journaled)
  for (let from = 0; from < journaled; from += 10_000)
    await Promise.all(
      Array.from({ length: Math.min(10_000, journaled - from) }, (_, k) => {
        const i = from + k
        const t = nowMs - journaled + i
        const checkIn = point({
          kind: 'c',
          sentMs: t,
          recordedMs: t,
          receivedMs: t,
          lat: 24,
          lng: 120.6,
          accuracy: 8,
        })
        return journal.append({
          id: `j${i}`,
          userId: walkerId(i % pilgrims),
          kind: 'checkin',
          entries: [pack(checkIn)],
          duplicateKey: `${t}`,
          recordedMs: t,
          position: null,
        })
      }),
    )
  journal.close()
}
