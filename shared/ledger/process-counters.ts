/**
 * A process's own part of the ledger: what the kv has acknowledged to it, and which points it turned away. Kept
 * outside the kv, whose loss it is to show.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Database, isDatabaseUnavailable } from '#shared/db/db.ts'
import type { Kv, Receipt } from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { type Acknowledged, acknowledge } from './stored-counters.ts'
import { openCounterFile, type Pair, readCounterFile } from './counter-file.ts'

const SYNC_EVERY_MS = 2_000
const SUFFIX = '.tally'

/** Counts points that do not reach the buffer. */
export type Count = (name: 'duplicate' | `rejected:${string}`, points: number) => void

export interface Tally {
  readonly count: Count
  /** Points that were turned away, by reason. */
  rejected(): Record<string, number>
  /** Brings to the database what is new, and what processes that are gone have left. */
  sync(): Promise<void>
  /** Syncs from now on. */
  start(): void
  stop(): Promise<void>
}

export interface ProcessCountersOptions {
  readonly kv: Pick<Kv, 'caller' | 'onReceipt'>
  readonly db: Pick<Database, 'sql'>
  readonly log: Log
  /** The process's journal file, beside which the tally lies; null: it is kept in memory only. */
  readonly journalPath: string | null
  /** Points that wait in that journal. */
  readonly journaled: () => number
}

export function openProcessCounters({ kv, db, log, journalPath, journaled }: ProcessCountersOptions): Tally {
  const names = { caller: kv.caller, counter: crypto.randomUUID() }
  const path = journalPath?.replace(/\.journal$/, SUFFIX) ?? null
  const notes = openNotes(path, names, log)
  let syncing: Promise<void> | null = null
  let timer: Timer | undefined
  kv.onReceipt((receipt) => {
    const name = `${receipt.epoch} ${receipt.partition}`
    notes.set(name, afterReceipt(notes.get(name), receipt))
  })

  const bring = async (): Promise<void> => {
    const [waiting] = notes.get(JOURNALED)
    if (waiting !== journaled()) notes.set(JOURNALED, [journaled(), 0])
    await notes.bring((pairs) => write(db, names, pairs))
    if (path !== null) await adoptOrphans(db, dirname(path), path)
  }
  const sync = (): Promise<void> => (syncing ??= bring().finally(() => (syncing = null)))
  const tick = () =>
    sync().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) log.error('the tally is not written', errorFields(error))
    })

  return {
    count(name, points) {
      if (points > 0) notes.set(name, [notes.get(name)[0] + points, 0])
    },
    rejected: () => notes.rejected(),
    sync,
    start() {
      void tick()
      timer = setInterval(() => void tick(), SYNC_EVERY_MS)
    },
    async stop() {
      clearInterval(timer)
      await syncing?.catch(() => undefined)
      await tick()
      // What waits in the journal is counted here until another replica takes it over.
      notes.close(journaled() > 0)
    },
  }
}

/** The pairs of this process, and which of them the database does not know yet. */
function openNotes(path: string | null, { caller, counter }: Names, log: Log) {
  const file = openCounterFile(path)
  const news = new Set<string>()
  let complained = false

  const set = (name: string, pair: Pair): void => {
    news.add(name)
    try {
      file.set(name, pair)
    } catch (error) {
      if (!complained) log.warn('the tally is kept in memory only', errorFields(error))
      complained = true
    }
  }
  set(`${CALLER}${caller}`, [0, 0])
  set(`${COUNTER}${counter}`, [0, 0])
  news.clear()

  return {
    get: (name: string): Pair => file.pairs.get(name) ?? [0, 0],
    set,
    rejected: (): Record<string, number> =>
      Object.fromEntries(
        [...file.pairs].flatMap(([name, [points]]) =>
          name.startsWith(REJECTED) ? [[name.slice(REJECTED.length), points] as const] : [],
        ),
      ),
    /** Hands over what is new; it stays new where that fails. */
    async bring(write: (pairs: Map<string, Pair>) => Promise<void>): Promise<void> {
      const names = [...news]
      news.clear()
      try {
        await write(new Map(names.map((name) => [name, file.pairs.get(name)!])))
      } catch (error) {
        for (const name of names) news.add(name)
        throw error
      }
    },
    close: (keep: boolean) => file.close(keep || news.size > 0),
  }
}

/** Under which names a process is known: to the kv, and to what is counted beside it. */
interface Names {
  readonly caller: string
  readonly counter: string
}

const CALLER = 'caller:'
const COUNTER = 'counter:'
const REJECTED = 'rejected:'
const JOURNALED = 'journaled'

/** Acknowledged so far, and how many of those the store has forgotten: it knew more before this call. */
export function afterReceipt(
  [acknowledged, lost]: Pair,
  { points, total }: Pick<Receipt, 'points' | 'total'>,
): Pair {
  const known = acknowledged - lost
  const forgot = Math.max(0, known - (total - points))
  return [total + lost + forgot, lost + forgot]
}

async function write(
  { sql }: Pick<Database, 'sql'>,
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
  await acknowledge(sql, acknowledged)
  if (counts.length === 0) return
  await sql`
    INSERT INTO ledger_counts AS c (caller, name, points)
    SELECT ${counter}, name, points FROM unnest(
      ${counts.map(({ name }) => name)}::text[], ${counts.map(({ points }) => points)}::float8[]
    ) AS k (name, points)
    ON CONFLICT (caller, name) DO UPDATE SET points = excluded.points`
}

/** A tally without its journal belongs to a process that is gone, and whose journal is taken over. */
async function adoptOrphans(db: Pick<Database, 'sql'>, dir: string, own: string): Promise<void> {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    if (!name.endsWith(SUFFIX) || path === own) continue
    if (existsSync(path.replace(/\.tally$/, '.journal'))) continue
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
