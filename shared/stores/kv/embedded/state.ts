/** The embedded kv's state in memory, and the changes that the log stores and replays. */
import {
  type Erased,
  type PartitionCounters,
  type Position,
  isOfErased,
  receivedMsOf,
  storedMs,
  SUBMISSION_KINDS,
  userHash,
  type VersionedStatus,
} from '#shared/stores/kv/kv.ts'

const HOUR_MS = 3_600_000

/** A charged call in a pilgrim's window. */
export interface Call {
  readonly ms: number
  readonly id: string
  readonly duplicateKey: string
  readonly recordedMs: number
  /** Number of calls of `ingest` in this entry; `ms` is the time of the last one. Absent: 1. */
  readonly count?: number
}

/** Calls of `ingest` in the same part of a window share one entry: an app sends a whole day at once. */
export const WINDOW_PARTS = 12

interface Buffer {
  readonly entries: Map<string, string>
  /** Start of the current pending period: the first pending point, or the last acknowledgement of some of them. */
  sinceMs: number
  expiresMs: number
}

interface Place extends Position {
  /** As `Moved.movedMs`. */
  readonly movedMs: number
  /** When a hidden pilgrim is shown again. */
  readonly returnsMs?: number | undefined
}

export interface State {
  readonly buffers: Map<string, Buffer>
  readonly windows: Map<string, { calls: readonly Call[]; expiresMs: number }>
  /** Positions by user id, in the order of their last change. */
  readonly live: Map<string, Place>
  /** Highest `movedMs` so far. */
  lastMovedMs: number
  readonly hidden: Set<string>
  /** Pilgrims who have withdrawn their consent. */
  readonly refused: Set<string>
  /** Erasures by hash of the user id, in the order in which they were stored. */
  readonly erased: Map<string, Erased>
  /** Number of erasures stored since this process began, repetitions included. */
  erasures: number
  readonly cache: Map<string, { value: string; expiresMs: number }>
  /** Counters. Expired points are not counted: they are the difference. */
  readonly counters: {
    epoch: string
    callers: Map<string, number>
    checkins: number
    duplicate: number
    dropped: number
    settled: number
    erased: number
  }
  status: VersionedStatus | null
}

export const createState = (): State => ({
  buffers: new Map(),
  windows: new Map(),
  live: new Map(),
  lastMovedMs: 0,
  hidden: new Set(),
  refused: new Set(),
  erased: new Map(),
  erasures: 0,
  cache: new Map(),
  counters: { epoch: '', callers: new Map(), checkins: 0, duplicate: 0, dropped: 0, settled: 0, erased: 0 },
  status: null,
})

/** A pilgrim's buffer; undefined if there is none, or its retention has ended. */
export function bufferOf(state: State, userId: string, nowMs: number): Buffer | undefined {
  const buffer = state.buffers.get(userId)
  return buffer !== undefined && buffer.expiresMs > nowMs ? buffer : undefined
}

/** Moves a position to the end of the live map. `next-change.lua` implements the same rule. */
function changePlace(state: State, userId: string, place: Omit<Place, 'movedMs'>, nowMs: number): void {
  state.lastMovedMs = Math.max(state.lastMovedMs + 1, nowMs)
  state.live.delete(userId)
  state.live.set(userId, { ...place, movedMs: state.lastMovedMs })
}

/** The changes that the log stores, by their tag: each applies its operands to the state. */
const CHANGES = {
  put(state: State, userId: string, field: string, value: string, nowMs: number, expiresMs: number) {
    const buffer = bufferOf(state, userId, nowMs) ?? { entries: new Map(), sinceMs: nowMs, expiresMs }
    buffer.entries.set(field, value)
    buffer.expiresMs = expiresMs
    state.buffers.set(userId, buffer)
  },
  renew({ buffers }: State, userId: string, expiresMs: number) {
    const buffer = buffers.get(userId)
    if (buffer !== undefined) buffer.expiresMs = expiresMs
  },
  drop({ buffers, counters }: State, userId: string, fields: readonly string[], nowMs: number) {
    const buffer = buffers.get(userId)
    if (buffer === undefined) return
    for (const field of fields) if (buffer.entries.delete(field)) counters.settled++
    buffer.sinceMs = nowMs
    if (buffer.entries.size === 0) buffers.delete(userId)
  },
  window({ windows }: State, key: string, calls: readonly Call[], expiresMs: number) {
    windows.set(key, { calls, expiresMs })
  },
  move(state: State, userId: string, position: Omit<Place, 'movedMs'>, nowMs: number) {
    changePlace(state, userId, { returnsMs: state.live.get(userId)?.returnsMs, ...position }, nowMs)
  },
  hide(state: State, userId: string, hides: boolean, refuses = false, nowMs?: number) {
    const { hidden, refused, live } = state
    refused[refuses ? 'add' : 'delete'](userId)
    if (hidden.has(userId) === hides) return
    hidden[hides ? 'add' : 'delete'](userId)
    const place = live.get(userId)
    if (place === undefined || nowMs === undefined) return
    changePlace(state, userId, { ...place, returnsMs: nowMs - (nowMs % HOUR_MS) + HOUR_MS }, nowMs)
  },
  erase(state: State, userId: string, erased: Erased) {
    CHANGES.erased(state, erased)
    forget(state, userId)
  },
  /** Stores an erasure: the newer generation wins; for the same generation, the new consent wins. */
  erased(state: State, one: Erased) {
    const held = state.erased.get(one.userHash)
    const isOlder =
      held !== undefined &&
      (held.generation > one.generation ||
        (held.generation === one.generation && storedMs(held) < storedMs(one)))
    if (isOlder) return
    state.erased.delete(one.userHash)
    state.erased.set(one.userHash, one)
    state.erasures++
  },
  entered(
    { counters }: State,
    caller: string,
    admitted: number,
    duplicate: number,
    dropped: number,
    checkins: number,
  ) {
    if (admitted > 0) counters.callers.set(caller, (counters.callers.get(caller) ?? 0) + admitted)
    counters.duplicate += duplicate
    counters.dropped += dropped
    counters.checkins += checkins
  },
  left({ counters }: State, settled: number, erased: number) {
    counters.settled += settled
    counters.erased += erased
  },
  epoch({ counters }: State, epoch: string) {
    counters.epoch = epoch
  },
  status(state: State, status: VersionedStatus) {
    state.status = status
  },
  cache({ cache }: State, key: string, value: string, expiresMs: number) {
    cache.set(key, { value, expiresMs })
  },
  forget({ cache }: State, key: string) {
    cache.delete(key)
  },
  clear(state: State) {
    const { buffers, windows, live, hidden, refused, erased, cache } = state
    for (const part of [buffers, windows, live, hidden, refused, erased, cache]) part.clear()
    Object.assign(state, { counters: createState().counters, status: null })
  },
}

type Operands<Apply> = Apply extends (state: State, ...operands: infer O) => void ? O : never

/** One change in the log: a tag and its operands. */
export type Change = {
  [Tag in keyof typeof CHANGES]: [Tag, ...Operands<(typeof CHANGES)[Tag]>]
}[keyof typeof CHANGES]

/** Applies a change to the state. It is the only writer of the state, for new and for replayed changes. */
export function apply(state: State, [tag, ...operands]: Change): void {
  ;(CHANGES[tag] as (state: State, ...operands: readonly unknown[]) => void)(state, ...operands)
}

/** Whether a packed point belongs to an erased person: it was admitted under an older generation, or before any. */
export const isBefore = (erased: Erased | undefined, value: string): boolean =>
  erased !== undefined && isOfErased(erased, { generation: -1, receivedMs: receivedMsOf(value) })

function forget(state: State, userId: string): void {
  const buffer = state.buffers.get(userId)
  // The store may already have a later erasure than this one; the later one decides.
  const erased = state.erased.get(userHash(userId))!
  const { generation } = erased
  for (const [field, value] of buffer?.entries ?? []) {
    if (Number(/^(\d+)~/.exec(value)?.[1] ?? 0) >= generation) continue
    // Delete only points received before the erasure. A later one with an old generation was restored before this store
    // knew of the erasure, and is kept.
    if (isBefore(erased, value)) {
      buffer!.entries.delete(field)
      state.counters.erased++
    } else buffer!.entries.set(field, `${generation}~${value.replace(/^\d+~/, '')}`)
  }
  // Points admitted after the erasure belong to a new pilgrim, who keeps windows and position.
  if (buffer !== undefined && buffer.entries.size > 0) return
  state.buffers.delete(userId)
  for (const kind of SUBMISSION_KINDS) state.windows.delete(`${kind}:${userId}`)
  state.live.delete(userId)
  state.hidden.delete(userId)
  state.refused.delete(userId)
}

/** The counters as the port returns them. */
export function countersOf(state: State, nowMs: number): PartitionCounters {
  const { callers, ...counters } = state.counters
  let admitted = 0
  for (const points of callers.values()) admitted += points
  let pending = 0
  for (const { entries, expiresMs } of state.buffers.values()) if (expiresMs > nowMs) pending += entries.size
  return {
    ...counters,
    callers: Object.fromEntries(callers),
    admitted,
    expired: admitted - pending - counters.settled - counters.erased,
  }
}

/** Deletes expired buffers, windows and cache entries. */
export function prune(state: State, nowMs: number): void {
  for (const map of [state.buffers, state.windows, state.cache])
    for (const [key, { expiresMs }] of map) if (expiresMs <= nowMs) map.delete(key)
}

/** The state as changes: the content of a compacted log. */
export function* snapshot(state: State): Generator<Change> {
  for (const [userId, { entries, sinceMs, expiresMs }] of state.buffers)
    for (const [field, value] of entries) yield ['put', userId, field, value, sinceMs, expiresMs]
  for (const [key, { calls, expiresMs }] of state.windows) yield ['window', key, calls, expiresMs]
  for (const [userId, { movedMs, ...position }] of state.live) yield ['move', userId, position, movedMs]
  for (const userId of state.hidden) yield ['hide', userId, true, state.refused.has(userId)]
  for (const [key, { value, expiresMs }] of state.cache) yield ['cache', key, value, expiresMs]
  yield ['epoch', state.counters.epoch]
  for (const erased of state.erased.values()) yield ['erased', erased]
  const { callers, checkins, duplicate, dropped, settled, erased } = state.counters
  for (const [caller, points] of callers) yield ['entered', caller, points, 0, 0, 0]
  yield ['entered', '', 0, duplicate, dropped, checkins]
  yield ['left', settled, erased]
  if (state.status !== null) yield ['status', state.status]
}
