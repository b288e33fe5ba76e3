/** The last 60 minutes: how many pilgrims walk, and what was received. */
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import { type LastHour, type Received, STEP_SECONDS } from '#shared/contracts/supervision.ts'
import { SILENT_HOURS, silentBetween } from '#shared/core/rules/silence.ts'
import { createLastFlush } from '#shared/points/pending-points.ts'
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { within } from '#shared/runtime/deadline.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { countsOf, type CountersReading } from '../stream/counts.ts'

const HOUR_MS = 3_600_000
const READ_MS = 1_000

/**
 * Creates the reader. Only a flush changes the latest points, so pilgrims are counted once after each flush,
 * in one pass over their totals, however many operators watch.
 */
export function createLastHour(
  context: ServiceContext,
  received: () => Received | null,
): () => Promise<LastHour> {
  const lastFlush = createLastFlush(context)
  let counted: { readonly flushMs: number; readonly pilgrims: Promise<Seen> } | null = null
  const count = (flushMs: number): Promise<Seen> => {
    if (counted?.flushMs === flushMs) return counted.pilgrims
    const current = { flushMs, pilgrims: countSeen(context, flushMs) }
    counted = current
    current.pilgrims.catch(() => {
      if (counted === current) counted = null
    })
    return current.pilgrims
  }
  const walking = async (): Promise<LastHour['walking']> => {
    const flushMs = await lastFlush()
    return flushMs === null ? null : { ...(await count(flushMs)), as_of: time(flushMs) }
  }
  return async () => ({
    walking: await within(walking(), READ_MS, () => null).catch((error: unknown) => {
      if (isDatabaseUnavailable(error)) return null
      throw error
    }),
    received: received(),
  })
}

type Seen = Omit<NonNullable<LastHour['walking']>, 'as_of'>

/**
 * Counts the pilgrims whose latest point is from the 60 minutes before a flush or newer, those of them with a
 * check-in, and those who fell silent that day. Looks up one check-in per pilgrim, because an hour has too
 * many points to read.
 */
async function countSeen({ db }: ServiceContext, flushMs: number): Promise<Seen> {
  const fromMs = flushMs - HOUR_MS
  const { sinceMs, beforeMs } = silentBetween(SILENT_HOURS, flushMs)
  const [[seen], [missed]] = await db.read(() =>
    Promise.all([
      db.sql<[Omit<Seen, 'silent'>]>`
        SELECT count(*)::int AS pilgrims, count(c.found)::int AS checked_in
        FROM pilgrim_totals t LEFT JOIN LATERAL (
          SELECT 1 AS found FROM gps_points p
          WHERE p.user_id = t.user_id AND p.kind = 'c' AND p.sent_at > from_epoch_ms(${fromMs})
            AND p.recorded_at > from_epoch_ms(${fromMs}) LIMIT 1) c ON true
        WHERE t.last_seen > from_epoch_ms(${fromMs})`,
      db.sql<[Pick<Seen, 'silent'>]>`
        SELECT count(*)::int AS silent FROM pilgrim_totals t JOIN pilgrims p USING (user_id)
        WHERE p.participant_status = 'active'
          AND t.last_seen > from_epoch_ms(${sinceMs})
          AND t.last_seen < from_epoch_ms(${beforeMs})`,
    ]),
  )
  return { ...seen, ...missed }
}

// Counts what the service received in the last hour, in steps of ten seconds. The kv's counters are read
// even when no operator watches, so a console opened during an incident also shows the time before. At
// most 360 steps.

const STEP_MS = STEP_SECONDS * 1_000
const STEPS = 3_600 / STEP_SECONDS

type Step = readonly [points: number, checkins: number]

/**
 * The steps of the last hour. The points counted after a missed reading are spread evenly over the missed
 * steps.
 */
export class ReceivedSteps {
  #before: CountersReading | null = null
  /** End of the last step, epoch milliseconds. */
  #endMs = 0
  #steps: Step[] = []

  /** @param nowMs time of the reading, epoch milliseconds; readings come in order */
  add(reading: CountersReading, nowMs: number): void {
    const endMs = Math.round(nowMs / STEP_MS) * STEP_MS
    const steps = (endMs - this.#endMs) / STEP_MS
    // After the first reading, or after the clock was set back, the earlier time is unknown.
    if (this.#before === null || steps < 0) this.#steps = []
    else if (steps === 0) return
    else {
      const { points, checkins } = countsOf(this.#before, reading, nowMs)
      const share = (count: number, i: number) =>
        Math.floor((count * (i + 1)) / steps) - Math.floor((count * i) / steps)
      for (let i = Math.max(0, steps - STEPS); i < steps; i++)
        this.#steps.push([share(points, i), share(checkins, i)])
      this.#steps.splice(0, Math.max(0, this.#steps.length - STEPS))
    }
    this.#before = reading
    this.#endMs = endMs
  }

  /** Null before the first reading. */
  read(): Received | null {
    if (this.#before === null) return null
    const sum = (which: 0 | 1) => this.#steps.reduce((total, step) => total + step[which], 0)
    return {
      since: time(this.#endMs - this.#steps.length * STEP_MS),
      through: time(this.#endMs),
      points: sum(0),
      checkins: sum(1),
      steps: this.#steps.map(([points, checkins]) => [points, checkins]),
    }
  }
}

export function createReceivedCount({ kv, log, now }: ServiceContext) {
  const steps = new ReceivedSteps()
  let timer: Timer | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    try {
      const reading = { counters: await kv.counters(), atMs: performance.now() }
      // `now()` rather than a stopwatch, because steps are shown with their time of day.
      steps.add(reading, now())
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('counting what was received failed', errorFields(error))
    }
    if (!stopped) timer = setTimeout(() => void look(), STEP_MS - (now() % STEP_MS))
  }
  return {
    read: () => steps.read(),
    start: () => void look(),
    stop(): void {
      stopped = true
      clearTimeout(timer)
    },
  }
}
