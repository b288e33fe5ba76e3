/**
 * Restores to the kv what it has lost. A new process of the kv may lack the last writes of the previous one, and a new
 * epoch means that everything is lost. Identities make a repetition harmless.
 */
import type { Database } from '#shared/stores/db/db.ts'
import type { Log } from '#shared/runtime/log.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import {
  type AdmissionRules,
  KvUnavailable,
  type KvPoints,
  type KvServer,
  partitionOf,
  type Submission,
  type Verdict,
} from '#shared/stores/kv/kv.ts'
import { activity } from '#shared/stores/schema/tables.ts'
import { MEMORY_CEILING } from '../admission.ts'
import type { Count } from '../ledger/counters.ts'
import { readablePoints } from '../point.ts'
import type { RedoLog } from './redo-log.ts'

const EVERY_MS = 2_000
const ROUNDS_A_FORGET = 5
/** Points looked up in Postgres at once. */
const POINTS_A_PAGE = 2_000

interface RedoOptions {
  readonly kv: KvPoints & KvServer
  readonly db: Database
  readonly redoLog: RedoLog
  readonly rules: AdmissionRules
  /** Counts the points restored to the kv. */
  readonly count: Count
  /** Restores the status and the lists of hidden, refused and erased pilgrims. */
  readonly refill: () => Promise<unknown>
  /** How long a submission is needed, in milliseconds: until a flush has stored it. Null: not known. */
  readonly neededMs: () => Promise<number | null>
  readonly log: Log
}

export function createRedo(options: RedoOptions) {
  const { redoLog, refill, neededMs, log, kv, db } = options
  // Also what the last process knew: the kv may lose its points while no tracking process runs.
  const known = redoLog.knownKv()
  let servers: ReadonlySet<string> | null = known === null ? null : new Set(known.servers)
  const epochs = new Map(known?.epochs)
  let isNoted = known !== null
  let isIdentified = false
  /** Partitions that may have lost points, with the epoch that had them; '': not known. */
  let due = new Map<number, string>()
  let isOpen = true

  async function check(): Promise<void> {
    const [running, counters] = await Promise.all([kv.servers(), kv.counters()])
    const isOther = servers !== null && running.some((server) => !servers!.has(server))
    for (const [partition, { epoch }] of counters.entries()) {
      const before = epochs.get(partition)
      if (isOther || (before !== undefined && before !== epoch))
        due.set(partition, due.get(partition) ?? before ?? '')
      if (epoch === '' || epoch === before) continue
      epochs.set(partition, epoch)
      isNoted = false
    }
    if (isOther) isNoted = false
    servers = new Set(running)
  }

  async function identify(): Promise<void> {
    if (isIdentified) return
    const [row] = await db.read(() => db.orm.select({ eventId: activity.eventId }).from(activity))
    await redoLog.identify(row!.eventId!)
    isIdentified = true
  }

  /** Only once the kv has all points: until then the next process must restore them, too. */
  function noteKv(): void {
    if (isNoted || servers === null) return
    isNoted = redoLog.noteKv({ servers: [...servers], epochs: [...epochs] })
  }

  async function forget(): Promise<void> {
    const ageMs = await neededMs()
    if (ageMs !== null && due.size === 0) redoLog.forget(ageMs)
  }

  async function redo(): Promise<void> {
    const lost = due
    due = new Map()
    try {
      await refill()
      const points = await giveAgain(options, lost, () => isOpen)
      if (points > 0) log.warn('the kv had lost points, and was given them again', { points })
    } catch (error) {
      due = new Map([...due, ...lost])
      throw error
    }
  }

  let round = 0
  const run = async (): Promise<void> => {
    await check()
    await identify()
    if (due.size > 0) await redo()
    // A stop may have left something to the next process.
    if (!isOpen) return
    if (round++ % ROUNDS_A_FORGET === 0) await forget()
    noteKv()
  }
  const repeating = repeated(log, 'giving the kv lost points again failed', EVERY_MS, run)

  return {
    /** Logs the part of a submission that the kv has admitted. */
    admitted(submission: Submission, verdict: Verdict): void {
      if (verdict.outcome !== 'admitted' || verdict.duplicates === submission.entries.length) return
      // The check-in itself is a repetition with another time.
      redoLog.add(verdict.duplicate ? { ...submission, entries: submission.entries.slice(1) } : submission)
    },
    /** Logs submissions that came from the journal. */
    restored(submissions: readonly Submission[]): void {
      for (const submission of submissions) redoLog.add(submission)
    },
    start: () => repeating.start(),
    async stop(): Promise<void> {
      isOpen = false
      await repeating.stop()
      await redoLog.close()
    },
  }
}

export type Redo = ReturnType<typeof createRedo>

/** @returns the number of points that the kv no longer had */
async function giveAgain(
  { kv, db, redoLog, rules, count }: RedoOptions,
  epochs: ReadonlyMap<number, string>,
  isOpen: () => boolean,
): Promise<number> {
  let points = 0
  for await (const page of redoLog.pages(POINTS_A_PAGE)) {
    // The next process reads the files, too.
    if (!isOpen()) break
    const lost = Map.groupBy(page, ({ userId }) => partitionOf(userId, kv.partitions))
    for (const [partition, submissions] of lost) {
      const epoch = epochs.get(partition)
      if (epoch === undefined) continue
      // The rest of the kv's memory is reserved for the flush.
      if ((await kv.memoryUse()) >= MEMORY_CEILING)
        throw new KvUnavailable('the kv has no room for lost points')
      const given = await kv.restore(partition, await withoutStored(db, submissions), rules)
      count(epoch === '' ? 'recovered' : `redone:${partition}:${epoch}`, given)
      points += given
    }
  }
  return points
}

/** The submissions without the points that Postgres has, so that these do not count as restored. */
async function withoutStored(db: Database, submissions: readonly Submission[]): Promise<Submission[]> {
  const points = submissions.flatMap(({ userId, entries }, at) =>
    readablePoints(entries).map((point) => ({ ...point, userId, at })),
  )
  const column = <T>(read: (point: (typeof points)[number]) => T): T[] => points.map(read)
  const stored = await db.read(
    () => db.sql<{ at: number; field: string }[]>`
      SELECT given.at::int AS at, given.kind || given.sent_ms::text AS field
      FROM unnest(
        ${column(({ at }) => at)}::int[], ${column(({ userId }) => userId)}::text[],
        ${column(({ kind }) => kind)}::text[], ${column(({ sentMs }) => sentMs)}::bigint[],
        ${column(({ lat }) => lat)}::float8[], ${column(({ lng }) => lng)}::float8[]
      ) AS given (at, user_id, kind, sent_ms, lat, lng)
      JOIN gps_points p USING (user_id, kind, lat, lng)
      WHERE p.sent_at = to_timestamp(given.sent_ms::float8 / 1000)`,
  )
  const fields = Map.groupBy(stored, ({ at }) => at)
  return submissions.map((submission, at) => {
    const known = new Set(fields.get(at)?.map(({ field }) => field))
    return { ...submission, entries: submission.entries.filter(({ field }) => !known.has(field)) }
  })
}
