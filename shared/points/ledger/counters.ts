/**
 * The ledger's counters. Postgres holds those of points that left the buffer and the last known ones of the kv; each
 * process holds the points that the kv confirmed to it and those that it refused. A process's counters are outside the
 * kv, so that they show what the kv has lost.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Database, isDatabaseUnavailable, type Tx } from '#shared/stores/db/db.ts'
import type { PartitionCounters, Receipt, KvPoints } from '#shared/stores/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { openCounterFile, type Pair, readCounterFile } from './counter-file.ts'

/** The partition and epoch to which points belong. */
export interface BufferEpoch {
  readonly epoch: string
  readonly partition: number
}

/** Counts the points of a slice in the slice's transaction. A repeated slice adds nothing to `stored`. */
export async function countSlice(
  tx: Tx,
  { epoch, partition }: BufferEpoch,
  left: { readonly stored: number; readonly repeated: number; readonly erased: number },
): Promise<void> {
  await tx.sql`
    INSERT INTO ledger_counters AS b (epoch, partition, stored, repeated, erased)
    VALUES (${epoch}, ${partition}, ${left.stored}, ${left.repeated}, ${left.erased})
    ON CONFLICT (epoch, partition) DO UPDATE SET
      stored = b.stored + excluded.stored, repeated = b.repeated + excluded.repeated,
      erased = b.erased + excluded.erased`
}

/**
 * Stores the counters of the kv, so that they are known after the kv has lost them.
 * @param calm the partitions without a flush in flight
 */
export async function storeCounters(
  db: Pick<Tx, 'sql'>,
  kv: Pick<KvPoints, 'counters'>,
  calm: ReadonlySet<number> = new Set(),
): Promise<void> {
  const counters = (await kv.counters()).map((each, partition) => ({ ...each, partition }))
  const begun = counters.filter(({ epoch }) => epoch !== '')
  if (begun.length === 0) return
  const column = <T>(read: (each: PartitionCounters & BufferEpoch) => T): T[] => begun.map(read)
  await db.sql`
    INSERT INTO ledger_counters AS b (epoch, partition, settled, duplicate, dropped, erased_pending)
    SELECT epoch, partition, settled, duplicate, dropped, erased FROM unnest(
      ${column((each) => each.epoch)}::text[], ${column((each) => each.partition)}::int[],
      ${column((each) => each.settled)}::float8[], ${column((each) => each.duplicate)}::float8[],
      ${column((each) => each.dropped)}::float8[], ${column((each) => each.erased)}::float8[]
    ) AS k (epoch, partition, settled, duplicate, dropped, erased) ORDER BY epoch, partition
    ON CONFLICT (epoch, partition) DO UPDATE SET
      settled = excluded.settled, duplicate = excluded.duplicate, dropped = excluded.dropped,
      erased_pending = excluded.erased_pending,
      excess = CASE WHEN b.partition = ANY(${[...calm]}::int[])
        THEN greatest(0, b.stored + b.dead_letters + b.repeated + b.erased - excluded.settled) ELSE b.excess END`
  const callers = begun.flatMap(({ epoch, partition, callers }) =>
    Object.entries(callers).map(([caller, points]) => ({ epoch, partition, caller, points })),
  )
  await acknowledge(
    db,
    callers.map((caller) => ({ ...caller, lost: 0 })),
  )
}

/** Points of one caller in one epoch of a partition. */
interface Acknowledged extends BufferEpoch {
  readonly caller: string
  /** Points that the store has. */
  readonly points: number
  /** Points that the store had and lost. */
  readonly lost: number
}

/** Stores the points that the kv has confirmed to callers. The larger of two values for one caller counts. */
async function acknowledge(tx: Pick<Tx, 'sql'>, acknowledged: readonly Acknowledged[]): Promise<void> {
  if (acknowledged.length === 0) return
  const column = <T>(read: (row: Acknowledged) => T): T[] => acknowledged.map(read)
  await tx.sql`
    INSERT INTO ledger_callers AS c (epoch, partition, caller, acknowledged, lost)
    SELECT epoch, partition, caller, points + lost, lost FROM unnest(
      ${column((row) => row.epoch)}::text[], ${column((row) => row.partition)}::int[],
      ${column((row) => row.caller)}::text[], ${column((row) => row.points)}::float8[],
      ${column((row) => row.lost)}::float8[]
    ) AS k (epoch, partition, caller, points, lost) ORDER BY epoch, partition, caller
    ON CONFLICT (epoch, partition, caller) DO UPDATE SET
      acknowledged = greatest(c.acknowledged, excluded.acknowledged - excluded.lost + greatest(c.lost, excluded.lost)),
      lost = greatest(c.lost, excluded.lost)`
}

/** Names of counts outside of the buffer, written in the transaction of their cause. */
type CounterChange =
  | 'points-erased'
  | 'letters-erased'
  | 'letters-dropped'
  | 'letters-stored'
  | 'letters-duplicate'

export async function countPoints(tx: Tx, name: CounterChange, points: number): Promise<void> {
  if (points === 0) return
  await tx.sql`
    INSERT INTO ledger_counts AS c (caller, name, points) VALUES ('', ${name}, ${points})
    ON CONFLICT (caller, name) DO UPDATE SET points = c.points + excluded.points`
}

/**
 * Closes the epochs of a kv whose data was restored from a backup: the new kv counts the points that were pending then,
 * so that they do not count as lost in the old epochs.
 * @param closed the counters of the partitions at the time of the backup
 */
export async function closeRestoredCounters(tx: Tx, closed: readonly PartitionCounters[]): Promise<void> {
  await storeCounters(tx, { counters: async () => [...closed] })
  for (const [partition, { epoch, expired }] of closed.entries())
    await tx.sql`
      INSERT INTO ledger_callers (epoch, partition, caller, acknowledged)
      SELECT ${epoch}, ${partition}, 'restore', sum(points) + ${expired}::float8 FROM (
        SELECT stored + dead_letters + erased_pending + greatest(0, repeated + erased - excess) FROM ledger_counters
          WHERE epoch = ${epoch} AND partition = ${partition}
        UNION ALL SELECT lost - acknowledged FROM ledger_callers WHERE epoch = ${epoch} AND partition = ${partition}
      ) AS entries (points) HAVING count(*) > 0
      ON CONFLICT (epoch, partition, caller) DO UPDATE SET acknowledged = ledger_callers.acknowledged + excluded.acknowledged`
  await tx.sql`DELETE FROM ledger_counts WHERE name = 'journaled'`
}

// The counters of this process.

const SYNC_EVERY_MS = 2_000
const SUFFIX = '.counters'

/** Counts points that do not reach the buffer, or are restored to it after an epoch of a partition has lost them. */
export type Count = (
  name: 'duplicate' | 'recovered' | `redone:${number}:${string}` | `rejected:${string}`,
  points: number,
) => void

interface ProcessCountersOptions {
  readonly kv: KvPoints
  readonly db: Pick<Database, 'sql'>
  readonly log: Log
  /** The process's journal file, beside which the counter file is created; null: counters in memory only. */
  readonly journalPath: string | null
  readonly journaled: () => number
}

export function openProcessCounters({ kv, db, log, journalPath, journaled }: ProcessCountersOptions) {
  const names = { caller: kv.caller, counter: crypto.randomUUID() }
  const path = journalPath?.replace(/\.journal$/, SUFFIX) ?? null
  const counters = openCounters(path, names, log)
  let syncing: Promise<void> | null = null
  let timer: Timer | undefined
  kv.onReceipt((receipt) => {
    const name = `${receipt.epoch} ${receipt.partition}`
    counters.set(name, afterReceipt(counters.get(name), receipt))
  })

  const flush = async (): Promise<void> => {
    const [counted] = counters.get(JOURNALED)
    if (counted !== journaled()) counters.set(JOURNALED, [journaled(), 0])
    await counters.flush((pairs) => write(db, names, pairs))
    if (path !== null) await adoptOrphans(db, dirname(path), path)
  }
  const sync = (): Promise<void> => (syncing ??= flush().finally(() => (syncing = null)))
  const tick = () =>
    sync().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) log.error('writing the ledger counters failed', errorFields(error))
    })

  return {
    count: ((name, points) => {
      if (points > 0) counters.set(name, [counters.get(name)[0] + points, 0])
    }) satisfies Count,
    rejected: () => counters.rejected(),
    /** Writes new counts to the database, and those of counter files left by ended processes. */
    sync,
    start(): void {
      void tick()
      timer = setInterval(() => void tick(), SYNC_EVERY_MS)
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await syncing?.catch(() => undefined)
      await tick()
      // The file counts the points in the journal until another replica adopts them.
      counters.close(journaled() > 0)
    },
  }
}

export type ProcessCounters = ReturnType<typeof openProcessCounters>

/** The counters of this process, and the names of those not yet in the database. */
function openCounters(path: string | null, { caller, counter }: Names, log: Log) {
  const file = openCounterFile(path)
  const unsaved = new Set<string>()
  let complained = false

  const set = (name: string, pair: Pair): void => {
    unsaved.add(name)
    try {
      file.set(name, pair)
    } catch (error) {
      if (!complained)
        log.warn('writing the counter file failed; counters are in memory only', errorFields(error))
      complained = true
    }
  }
  set(`${CALLER}${caller}`, [0, 0])
  set(`${COUNTER}${counter}`, [0, 0])
  unsaved.clear()

  return {
    get: (name: string): Pair => file.pairs.get(name) ?? [0, 0],
    set,
    rejected: (): Record<string, number> =>
      Object.fromEntries(
        [...file.pairs].flatMap(([name, [points]]) =>
          name.startsWith(REJECTED) ? [[name.slice(REJECTED.length), points] as const] : [],
        ),
      ),
    /** Writes the unsaved counters; if that fails, they stay unsaved. */
    async flush(write: (pairs: Map<string, Pair>) => Promise<void>): Promise<void> {
      const names = [...unsaved]
      unsaved.clear()
      try {
        await write(new Map(names.map((name) => [name, file.pairs.get(name)!])))
      } catch (error) {
        for (const name of names) unsaved.add(name)
        throw error
      }
    },
    close: (keep: boolean) => file.close(keep || unsaved.size > 0),
  }
}

/** A process's names: that of its kv client, and that of its other counters. */
interface Names {
  readonly caller: string
  readonly counter: string
}

const CALLER = 'caller:'
const COUNTER = 'counter:'
const REJECTED = 'rejected:'
const JOURNALED = 'journaled'

/**
 * Updates a process's counters of one epoch with a receipt.
 * @returns points confirmed so far, and how many of them the store has lost: it knew more before this call
 */
export function afterReceipt(
  [acknowledged, lost]: Pair,
  { points, total }: Pick<Receipt, 'points' | 'total'>,
): Pair {
  const known = acknowledged - lost
  const newlyLost = Math.max(0, known - (total - points))
  return [total + lost + newlyLost, lost + newlyLost]
}

async function write(
  db: Pick<Tx, 'sql'>,
  { caller, counter }: Names,
  pairs: ReadonlyMap<string, Pair>,
): Promise<void> {
  const acknowledged: Acknowledged[] = []
  const counts: { name: string; points: number }[] = []
  for (const [name, [points, lost]] of pairs) {
    const [, epoch, partition] = /^(\S+) (\d+)$/.exec(name) ?? []
    if (epoch !== undefined)
      acknowledged.push({ epoch, partition: Number(partition), caller, points: points - lost, lost })
    else if (!name.startsWith(CALLER) && !name.startsWith(COUNTER)) counts.push({ name, points })
  }
  await acknowledge(db, acknowledged)
  if (counts.length === 0) return
  await db.sql`
    INSERT INTO ledger_counts AS c (caller, name, points)
    SELECT ${counter}, name, points FROM unnest(
      ${counts.map(({ name }) => name)}::text[], ${counts.map(({ points }) => points)}::float8[]
    ) AS k (name, points)
    ON CONFLICT (caller, name) DO UPDATE SET points = excluded.points`
}

/** Adopts counter files without a journal: their process has ended, and its journal was adopted. */
async function adoptOrphans(db: Pick<Database, 'sql'>, dir: string, own: string): Promise<void> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    if (!name.endsWith(SUFFIX) || path === own) continue
    if (existsSync(path.replace(/\.counters$/, '.journal'))) continue
    if (!existsSync(path)) continue
    const pairs = readCounterFile(path)
    const named = (prefix: string) =>
      [...pairs.keys()].find((key) => key.startsWith(prefix))?.slice(prefix.length)
    const [caller, counter] = [named(CALLER), named(COUNTER)]
    if (caller !== undefined && counter !== undefined)
      await write(db, { caller, counter }, pairs.set(JOURNALED, [0, 0]))
    rmSync(path, { force: true })
  }
}
