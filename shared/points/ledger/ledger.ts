/** The ledger: the outcome of every point ever received, from the counters of the kv and of Postgres. */
import type { MachineClock } from '#shared/runtime/clock.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { PartitionCounters, KvPoints } from '#shared/stores/kv/kv.ts'
import type { BufferEpoch } from './counters.ts'

/** Numbers of points. `received` is the sum of all other figures; `inFlight` is 0 at rest. */
export interface Ledger {
  readonly received: number
  readonly stored: number
  readonly duplicate: number
  readonly rejected: Readonly<Record<string, number>>
  readonly pending: number
  readonly journaled: number
  readonly deadLetter: number
  readonly erased: number
  readonly lost: number
  /** Counted twice or not yet: a slice between commit and acknowledgement, or a count not yet written. */
  readonly inFlight: number
  /** `lost` by partition and epoch. */
  readonly losses: readonly (BufferEpoch & { readonly points: number })[]
}

/**
 * The one definition of the figure `lost`.
 *
 * Lost points of one epoch of a partition: points that the kv confirmed, that are no longer pending, and that no
 * counter accounts for. Journaled points, dead letters and points of erased pilgrims are not lost.
 * @param causes numbers of points; a negative `forgotten` or `unaccounted` counts as 0
 * @param causes.expired points whose retention ended before they were stored. 0 for an ended epoch
 * @param causes.forgotten confirmed points that the kv no longer counts. For an ended epoch: confirmed points that no
 *   counter of Postgres contains
 * @param causes.unaccounted points that the kv counts as stored and Postgres does not. 0 for an ended epoch
 */
export const lostPoints = ({
  expired = 0,
  forgotten,
  unaccounted = 0,
}: {
  readonly expired?: number
  readonly forgotten: number
  readonly unaccounted?: number
}): number => expired + Math.max(0, forgotten) + Math.max(0, unaccounted)

const NOTHING = {
  stored: 0,
  dead_letters: 0,
  repeated: 0,
  erased: 0,
  excess: 0,
  duplicate: 0,
  dropped: 0,
  erased_pending: 0,
}
type StoredCounters = Readonly<typeof NOTHING>

interface EpochFigures {
  readonly entered: number
  readonly stored: number
  readonly duplicate: number
  readonly dropped: number
  readonly erased: number
  readonly pending: number
  readonly lost: number
}

interface Rows {
  readonly stored: readonly (BufferEpoch & StoredCounters)[]
  readonly callers: readonly (BufferEpoch & { caller: string; acknowledged: number; lost: number })[]
  readonly counts: Readonly<Record<string, number>> | null
  readonly letters: number
}

const REJECTED = 'rejected:'
const READS = 3

/**
 * Reads the ledger.
 * @throws KvUnavailable, or the database's error: a ledger without either would be wrong
 */
export async function readLedger(db: Database, kv: KvPoints): Promise<Ledger> {
  for (let read = 1; ; read++) {
    // The kv is read before and after Postgres: acknowledged slices were committed before the first read, and points
    // that the processes stored as confirmed are in the kv by the second. So neither appears as lost.
    const before = await kv.counters()
    const rows = await readRows(db)
    const after = await kv.counters()
    const same = after.every(({ epoch }, partition) => epoch === before[partition]!.epoch)
    if (same || read === READS) return balance(before, rows, after)
  }
}

async function readRows(db: Database): Promise<Rows> {
  const [row] = await db.read(
    () => db.sql<[{ rows: Rows }]>`
      SELECT json_build_object(
        'stored', (SELECT coalesce(json_agg(b), '[]') FROM ledger_counters b),
        'callers', (SELECT coalesce(json_agg(c), '[]') FROM ledger_callers c),
        'counts', (SELECT json_object_agg(name, points) FROM (
          SELECT name, sum(points) AS points FROM ledger_counts GROUP BY name) n),
        'letters', (SELECT count(*) FROM dead_letters)
      ) AS rows`,
  )
  return row.rows
}

/** The ledger as flat figures, one for each reason of a rejection. */
export const statesOf = ({ rejected, ...ledger }: Ledger): Record<string, number> =>
  Object.fromEntries([
    ...Object.entries(ledger).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
    ...Object.entries(rejected).map(([reason, points]) => [`rejected_${reason}`, points] as const),
  ])

const keyOf = ({ epoch, partition }: BufferEpoch): string => `${epoch} ${partition}`
const total = <T>(list: Iterable<T>, read: (item: T) => number): number => {
  let sum = 0
  for (const item of list) sum += read(item)
  return sum
}

/** The ledger from the kv's counters at two moments and Postgres's rows between them. */
export function balance(
  before: readonly PartitionCounters[],
  rows: Rows,
  after: readonly PartitionCounters[],
): Ledger {
  const stored = new Map(rows.stored.map((row) => [keyOf(row), row]))
  const callers = Map.groupBy(rows.callers, keyOf)
  const figures = new Map<string, EpochFigures & BufferEpoch>()
  for (const [partition, counters] of after.entries()) {
    const book = { epoch: counters.epoch, partition }
    const key = keyOf(book)
    const settled =
      before[partition]!.epoch === counters.epoch ? before[partition]!.settled : counters.settled
    figures.set(key, {
      ...book,
      ...currentEpoch(counters, settled, stored.get(key) ?? NOTHING, callers.get(key) ?? []),
    })
  }
  for (const key of new Set([...stored.keys(), ...callers.keys()])) {
    if (figures.has(key)) continue
    const row = stored.get(key) ?? { ...NOTHING, ...callers.get(key)![0]! }
    const { epoch, partition } = row
    figures.set(key, { epoch, partition, ...endedEpoch(row, callers.get(key) ?? []) })
  }
  return sumUp([...figures.values()], rows)
}

function sumUp(figures: readonly (EpochFigures & BufferEpoch)[], { counts, letters }: Rows): Ledger {
  const counted = (name: string): number =>
    (counts !== null && Object.hasOwn(counts, name) && counts[name]) || 0
  const sum = (name: keyof EpochFigures) => total(figures, (figure) => figure[name])
  const rejected = Object.entries(counts ?? {}).filter(([name]) => name.startsWith(REJECTED))
  const refused = total(rejected, ([, points]) => points)
  const journaled = counted('journaled')
  const dropped = counted('letters-dropped')
  // Points that were lost and restored were counted twice on entry. Their epoch is not always known.
  const left = without(
    counted('recovered'),
    figures.map(({ partition, epoch, lost }) => Math.max(0, lost - counted(`redone:${partition}:${epoch}`))),
  )
  const lost = total(left, Number)
  const ledger = {
    received:
      sum('entered') -
      (sum('lost') - lost) +
      sum('dropped') +
      refused +
      journaled +
      counted('duplicate') -
      // Before 1.8.0 a requeued letter entered the buffer again.
      counted('letters-replayed'),
    stored: sum('stored') + counted('letters-stored') - counted('points-erased'),
    duplicate: sum('duplicate') + counted('duplicate') + counted('letters-duplicate'),
    rejected: {
      ...Object.fromEntries(rejected.map(([name, points]) => [name.slice(REJECTED.length), points])),
      ...(dropped > 0 ? { 'dropped-letter': dropped } : {}),
    },
    pending: sum('pending'),
    journaled,
    deadLetter: letters,
    erased: sum('erased') + sum('dropped') + counted('points-erased') + counted('letters-erased'),
    lost,
  }
  const { received, stored, duplicate, pending, deadLetter, erased } = ledger
  const rest = stored + duplicate + refused + dropped + pending + journaled + deadLetter + erased + lost
  const losses = figures.map(({ epoch, partition }, i) => ({ epoch, partition, points: left[i]! }))
  return { ...ledger, inFlight: received - rest, losses: losses.filter(({ points }) => points > 0) }
}

/**
 * Subtracts points that were counted twice from the counts that may be the cause, in their order. Causes of points that
 * Postgres counted more often than the kv: a repeated flush (first its repeated points, then the erased ones), a kv
 * that lost its last writes after a flush, an erasure between commit and acknowledgement, a dead letter that was
 * requeued between them.
 */
function without(excess: number, counts: readonly number[]): number[] {
  let left = Math.max(0, excess)
  return counts.map((count) => {
    const taken = Math.min(left, count)
    left -= taken
    return count - taken
  })
}

/** Figures of the epoch that the kv is in. */
function currentEpoch(
  { callers, settled, ...counters }: PartitionCounters,
  settledBefore: number,
  row: StoredCounters,
  rows: Rows['callers'],
): EpochFigures {
  const acknowledged = new Map(rows.map((counted) => [counted.caller, counted]))
  const forgotten = total(new Set([...Object.keys(callers), ...acknowledged.keys()]), (caller) => {
    const { acknowledged: known = 0, lost = 0 } = acknowledged.get(caller) ?? {}
    return Math.max(lost, known - (callers[caller] ?? 0))
  })
  const left = row.stored + row.dead_letters + row.repeated + row.erased
  const counts = [row.repeated, row.erased, forgotten, counters.erased, counters.duplicate] as const
  // Of the points that left between the two readings of the kv, only those still in excess at rest count twice.
  const excess = Math.max(left - settled, Math.min(row.excess, left - settledBefore))
  const [repeated, erased, missing, erasedPending, duplicate] = without(excess, counts)
  return {
    entered: counters.admitted + forgotten + counters.duplicate,
    stored: row.stored,
    duplicate: duplicate! + repeated!,
    dropped: counters.dropped,
    erased: erasedPending! + erased!,
    // Negative only if another program wrote points without counting them; these appear as in flight.
    pending: Math.max(0, counters.admitted - settled - counters.erased - counters.expired),
    lost: lostPoints({
      expired: counters.expired,
      forgotten: missing!,
      unaccounted: settledBefore - left,
    }),
  }
}

/** Figures of an epoch that has ended: confirmed points that did not leave its buffer are lost. */
function endedEpoch(row: StoredCounters, rows: Rows['callers']): EpochFigures {
  const acknowledged = total(rows, (counted) => counted.acknowledged)
  const counts = [row.repeated, row.erased, row.erased_pending, row.duplicate] as const
  const [repeated, erased, erasedPending, duplicate] = without(row.excess, counts)
  const requeued = row.duplicate - duplicate!
  const left = row.stored + row.dead_letters + repeated! + erased! + erasedPending! - requeued
  return {
    entered: Math.max(acknowledged, left) + row.duplicate,
    stored: row.stored,
    duplicate: duplicate! + repeated!,
    dropped: row.dropped,
    erased: erasedPending! + erased!,
    pending: 0,
    lost: lostPoints({ forgotten: acknowledged - left }),
  }
}

/**
 * @returns a check that records a loss when two consecutive checks find it. A single check may read the ledger while a
 * slice of an earlier epoch is being stored. It rejects while the kv or the database is unavailable.
 */
export function createLossWatch({
  db,
  kv,
  now,
}: {
  readonly db: Database
  readonly kv: KvPoints
  readonly now: MachineClock
}): () => Promise<void> {
  let before = new Map<string, number>()
  return async () => {
    const { losses } = await readLedger(db, kv)
    const confirmed = losses.flatMap((loss) => {
      const last = before.get(keyOf(loss))
      return last === undefined ? [] : [{ ...loss, points: Math.min(loss.points, last) }]
    })
    // Two checks without a loss: the points recorded as lost have been found.
    const isComplete = before.size === 0 && losses.length === 0
    before = new Map(losses.map((loss) => [keyOf(loss), loss.points]))
    if (confirmed.length > 0 || isComplete) await record(db, confirmed, now())
  }
}

/** Records the difference between the confirmed losses and the recorded ones. */
async function record(db: Database, confirmed: Ledger['losses'], nowMs: number): Promise<void> {
  await db.transaction(async (tx) => {
    // The lock lets each of two processes see the records of the other.
    await tx.sql`LOCK TABLE ledger_losses IN SHARE ROW EXCLUSIVE MODE`
    await tx.sql`
      INSERT INTO ledger_losses (at, epoch, partition, points)
      SELECT from_epoch_ms(${nowMs}), epoch, partition, coalesce(seen.points, 0) - coalesce(noted.points, 0)
      FROM unnest(
        ${confirmed.map(({ epoch }) => epoch)}::text[], ${confirmed.map(({ partition }) => partition)}::int[],
        ${confirmed.map(({ points }) => points)}::float8[]
      ) AS seen (epoch, partition, points)
      FULL JOIN (
        SELECT epoch, partition, sum(points)::float8 AS points FROM ledger_losses GROUP BY epoch, partition
      ) AS noted USING (epoch, partition)
      WHERE coalesce(seen.points, 0) <> coalesce(noted.points, 0)`
  })
}
