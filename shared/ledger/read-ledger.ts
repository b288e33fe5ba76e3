/** The ledger, from the kv's books and Postgres's: what became of every point that was ever received. */
import type { Database } from '#shared/db/db.ts'
import type { Kv, PartitionCounters } from '#shared/kv/kv.ts'
import type { Book } from './stored-counters.ts'

/** Points. Received is the sum of all the others, of which `inFlight` is 0 when nothing moves. */
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
  /** Counted twice just now, or not yet: a slice between its commit and its settlement, a count on its way. */
  readonly inFlight: number
  /** Which lives of which partitions have lost something. */
  readonly losses: readonly (Book & { readonly points: number })[]
}

/** A row of `ledger_books`. */
type Booked = Book & {
  readonly stored: number
  readonly dead_letters: number
  readonly repeated: number
  readonly erased: number
  readonly excess: number
  readonly duplicate: number
  readonly dropped: number
  readonly erased_pending: number
}

/** What the books of one life of a partition come to. */
interface Closed {
  readonly entered: number
  readonly stored: number
  readonly duplicate: number
  readonly dropped: number
  readonly erased: number
  readonly pending: number
  readonly lost: number
}

interface Rows {
  readonly books: readonly Booked[]
  readonly callers: readonly (Book & { caller: string; acknowledged: number; lost: number })[]
  readonly counts: Readonly<Record<string, number>> | null
  readonly letters: number
}

const REJECTED = 'rejected:'
const READS = 3

/**
 * Reads the ledger.
 * @throws KvUnavailable, or the database's error: a ledger without one of both would be wrong
 */
export async function readLedger(db: Database, kv: Kv): Promise<Ledger> {
  for (let read = 1; ; read++) {
    // What is settled is committed before, what is acknowledged was known before: so neither seems to be missing.
    const before = await kv.books()
    const rows = await readRows(db)
    const after = await kv.books()
    const same = after.every(({ epoch }, partition) => epoch === before[partition]!.epoch)
    if (same || read === READS) return balance(before, rows, after)
  }
}

async function readRows(db: Database): Promise<Rows> {
  const [row] = await db.read(
    () => db.sql<[{ rows: Rows }]>`
      SELECT json_build_object(
        'books', (SELECT coalesce(json_agg(b), '[]') FROM ledger_books b),
        'callers', (SELECT coalesce(json_agg(c), '[]') FROM ledger_callers c),
        'counts', (SELECT json_object_agg(name, points) FROM (
          SELECT name, sum(points) AS points FROM ledger_counts GROUP BY name) n),
        'letters', (SELECT count(*) FROM dead_letters)
      ) AS rows`,
  )
  return row.rows
}

/** The ledger as flat figures: for each reason of a rejection one of its own. */
export function statesOf(ledger: Ledger): Record<string, number> {
  const states: Record<string, number> = {}
  for (const [name, points] of Object.entries(ledger)) if (typeof points === 'number') states[name] = points
  for (const [reason, points] of Object.entries(ledger.rejected)) states[`rejected_${reason}`] = points
  return states
}

const keyOf = ({ epoch, partition }: Book): string => `${epoch} ${partition}`
const total = <T>(list: Iterable<T>, read: (one: T) => number): number => {
  let sum = 0
  for (const one of list) sum += read(one)
  return sum
}

const NOTHING: Booked = {
  epoch: '',
  partition: 0,
  stored: 0,
  dead_letters: 0,
  repeated: 0,
  erased: 0,
  excess: 0,
  duplicate: 0,
  dropped: 0,
  erased_pending: 0,
}

/** What two moments of the kv, and Postgres between them, come to. */
export function balance(
  before: readonly PartitionCounters[],
  rows: Rows,
  after: readonly PartitionCounters[],
): Ledger {
  const booked = new Map(rows.books.map((row) => [keyOf(row), row]))
  const callers = Map.groupBy(rows.callers, keyOf)
  const closed = new Map<string, Closed & Book>()
  for (const [partition, books] of after.entries()) {
    const book = { epoch: books.epoch, partition }
    const key = keyOf(book)
    const settled = before[partition]!.epoch === books.epoch ? before[partition]!.settled : books.settled
    closed.set(key, {
      ...book,
      ...closeLiving(books, settled, booked.get(key) ?? NOTHING, callers.get(key) ?? []),
    })
  }
  for (const key of new Set([...booked.keys(), ...callers.keys()])) {
    if (closed.has(key)) continue
    const row = booked.get(key) ?? { ...NOTHING, ...callers.get(key)![0]! }
    const { epoch, partition } = row
    closed.set(key, { epoch, partition, ...closeGone(row, callers.get(key) ?? []) })
  }
  return sumUp([...closed.values()], rows)
}

function sumUp(closed: readonly (Closed & Book)[], { counts, letters }: Rows): Ledger {
  const counted = (name: string): number => counts?.[name] ?? 0
  const sum = (name: Exclude<keyof Closed, 'epoch'>) => total(closed, (one) => one[name])
  const atTheDoor = Object.entries(counts ?? {}).filter(([name]) => name.startsWith(REJECTED))
  const refused = total(atTheDoor, ([, points]) => points)
  const journaled = counted('journaled')
  const dropped = counted('letters-dropped')
  const ledger = {
    received:
      sum('entered') +
      sum('dropped') +
      refused +
      journaled +
      counted('duplicate') -
      counted('letters-replayed'),
    stored: sum('stored') - counted('points-erased'),
    duplicate: sum('duplicate') + counted('duplicate'),
    rejected: {
      ...Object.fromEntries(atTheDoor.map(([name, points]) => [name.slice(REJECTED.length), points])),
      ...(dropped > 0 ? { 'dropped-letter': dropped } : {}),
    },
    pending: sum('pending'),
    journaled,
    deadLetter: letters,
    erased: sum('erased') + sum('dropped') + counted('points-erased') + counted('letters-erased'),
    lost: sum('lost'),
  }
  const { received, stored, duplicate, pending, deadLetter, erased, lost } = ledger
  const rest = stored + duplicate + refused + dropped + pending + journaled + deadLetter + erased + lost
  const losses = closed.filter((one) => one.lost > 0)
  return {
    ...ledger,
    inFlight: received - rest,
    losses: losses.map(({ epoch, partition, lost: points }) => ({ epoch, partition, points })),
  }
}

/**
 * Takes what Postgres counted more often than it left the buffer out of what can be the reason, in this order:
 * a flush that was repeated (first of its repeated points, then of the erased), a store that fell back behind a
 * flush, somebody erased between commit and settlement, a dead letter replayed between them.
 */
function without(excess: number, counts: readonly number[]): number[] {
  let left = Math.max(0, excess)
  return counts.map((count) => {
    const taken = Math.min(left, count)
    left -= taken
    return count - taken
  })
}

function closeLiving(
  { callers, settled, ...books }: PartitionCounters,
  settledBefore: number,
  row: Booked,
  rows: Rows['callers'],
): Closed {
  const acknowledged = new Map(rows.map((one) => [one.caller, one]))
  const forgot = total(new Set([...Object.keys(callers), ...acknowledged.keys()]), (caller) => {
    const { acknowledged: known = 0, lost = 0 } = acknowledged.get(caller) ?? {}
    return Math.max(lost, known - (callers[caller] ?? 0))
  })
  const left = row.stored + row.dead_letters + row.repeated + row.erased
  const counts = [row.repeated, row.erased, forgot, books.erased, books.duplicate] as const
  const [repeated, erased, gone, erasedPending, duplicate] = without(left - settledBefore, counts)
  return {
    entered: books.admitted + forgot + books.duplicate,
    stored: row.stored,
    duplicate: duplicate! + repeated!,
    dropped: books.dropped,
    erased: erasedPending! + erased!,
    // Below nothing only where somebody has put points in past the books; then they show in flight.
    pending: Math.max(0, books.admitted - settled - books.erased - books.expired),
    lost: books.expired + gone! + Math.max(0, settledBefore - left),
  }
}

/** A life of the store that is over: what it acknowledged and did not hand over is lost. */
function closeGone(row: Booked, rows: Rows['callers']): Closed {
  const acknowledged = total(rows, (one) => one.acknowledged)
  const counts = [row.repeated, row.erased, row.erased_pending, row.duplicate] as const
  const [repeated, erased, erasedPending, duplicate] = without(row.excess, counts)
  const replayed = row.duplicate - duplicate!
  const left = row.stored + row.dead_letters + repeated! + erased! + erasedPending! - replayed
  return {
    entered: Math.max(acknowledged, left) + row.duplicate,
    stored: row.stored,
    duplicate: duplicate! + repeated!,
    dropped: row.dropped,
    erased: erasedPending! + erased!,
    pending: 0,
    lost: Math.max(0, acknowledged - left),
  }
}
