/** The embedded kv's state in memory, and the changes that the log stores and replays. */
import {
  type Erased,
  type PartitionCounters,
  type Position,
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
}

interface Buffer {
  readonly entries: Map<string, string>
  /** Since when it has pending points: the first one, or the last acknowledgement of some of them. */
  sinceMs: number
  expiresMs: number
}

/** One change in the log: a tag and its operands. */
export type Change =
  | ['put', userId: string, field: string, value: string, nowMs: number, expiresMs: number]
  | ['renew', userId: string, expiresMs: number]
  | ['drop', userId: string, fields: string[], nowMs: number]
  | ['window', key: string, calls: Call[], expiresMs: number]
  | ['move', userId: string, position: Omit<Place, 'movedMs'>, movedMs: number]
  | ['hide', userId: string, hidden: boolean, refused?: boolean, nowMs?: number]
  | ['erase', userId: string, erased: Erased]
  | ['erased', Erased]
  | ['entered', caller: string, admitted: number, duplicate: number, dropped: number, checkins: number]
  | ['left', settled: number, erased: number]
  | ['epoch', epoch: string]
  | ['status', VersionedStatus]
  | ['cache', key: string, value: string, expiresMs: number]
  | ['forget', key: string]
  | ['clear']

interface Place extends Position {
  readonly movedMs: number
  /** When a pilgrim who was hidden is shown again. */
  readonly returnsMs?: number | undefined
}

export interface State {
  readonly buffers: Map<string, Buffer>
  readonly windows: Map<string, { calls: Call[]; expiresMs: number }>
  readonly live: Map<string, Place>
  readonly hidden: Set<string>
  /** Pilgrims who have taken back their consent. */
  readonly refused: Set<string>
  /** Erasures by hash of the user id, the latest stored last. */
  readonly erased: Map<string, Erased>
  /** Number of erasures stored since this process began, each as often as it was stored. */
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

/** Applies a change to the state. It is the only writer of the state, for new and for replayed changes. */
export function apply(state: State, change: Change): void {
  switch (change[0]) {
    case 'put':
      hold(state, change)
      return
    case 'renew':
      renew(state.buffers.get(change[1]), change[2])
      return
    case 'drop':
      drop(state, change[1], change[2], change[3])
      return
    case 'window':
      state.windows.set(change[1], { calls: change[2], expiresMs: change[3] })
      return
    case 'move':
      const returnsMs = state.live.get(change[1])?.returnsMs
      state.live.set(change[1], { returnsMs, ...change[2], movedMs: change[3] })
      return
    case 'hide':
      hide(state, change)
      return
    case 'erase':
      remember(state, change[2])
      forget(state, change[1])
      return
    case 'erased':
      remember(state, change[1])
      return
    case 'entered':
      enter(state, change)
      return
    case 'left':
      state.counters.settled += change[1]
      state.counters.erased += change[2]
      return
    case 'epoch':
      state.counters.epoch = change[1]
      return
    case 'status':
      state.status = change[1]
      return
    case 'cache':
      state.cache.set(change[1], { value: change[2], expiresMs: change[3] })
      return
    case 'forget':
      state.cache.delete(change[1])
      return
    case 'clear':
      clear(state)
  }
}

function enter(
  { counters }: State,
  [, caller, admitted, duplicate, dropped, checkins]: Extract<Change, ['entered', ...unknown[]]>,
): void {
  if (admitted > 0) counters.callers.set(caller, (counters.callers.get(caller) ?? 0) + admitted)
  counters.duplicate += duplicate
  counters.dropped += dropped
  counters.checkins += checkins
}

function hide(
  { hidden, refused, live }: State,
  [, userId, hides, refuses, nowMs]: Extract<Change, ['hide', ...unknown[]]>,
): void {
  refused[refuses ? 'add' : 'delete'](userId)
  if (hidden.has(userId) === hides) return
  hidden[hides ? 'add' : 'delete'](userId)
  const place = live.get(userId)
  if (place === undefined || nowMs === undefined) return
  live.set(userId, { ...place, movedMs: nowMs, returnsMs: nowMs - (nowMs % HOUR_MS) + HOUR_MS })
}

function renew(buffer: Buffer | undefined, expiresMs: number): void {
  if (buffer !== undefined) buffer.expiresMs = expiresMs
}

function clear(state: State): void {
  const { buffers, windows, live, hidden, refused, erased, cache } = state
  for (const part of [buffers, windows, live, hidden, refused, erased, cache]) part.clear()
  Object.assign(state, { counters: createState().counters, status: null })
}

/** Stores an erasure: of two the newer generation; of the same one the person's new consent. */
function remember(state: State, one: Erased): void {
  const { erased } = state
  const held = erased.get(one.userHash)
  const isOlder =
    held !== undefined &&
    (held.generation > one.generation ||
      (held.generation === one.generation && storedMs(held) < storedMs(one)))
  if (isOlder) return
  erased.delete(one.userHash)
  erased.set(one.userHash, one)
  state.erasures++
}

/** Whether an erasure stands, or a packed point, with or without a stamp, was received before it. */
export const isBefore = (erased: Erased | undefined, value: string): boolean =>
  erased !== undefined &&
  // The time of receipt is the second number of a packed point.
  (erased.stands || !(Number(/^(?:\d+~)?\[[^,]*,(\d+)/.exec(value)?.[1]) > erased.erasedMs))

function forget(state: State, userId: string): void {
  const buffer = state.buffers.get(userId)
  // A later erasure may be known than the one that is carried out: it decides.
  const erased = state.erased.get(userHash(userId))!
  const { generation } = erased
  for (const [field, value] of buffer?.entries ?? []) {
    if (Number(/^(\d+)~/.exec(value)?.[1] ?? 0) >= generation) continue
    // Others were restored before the store knew of the erasure.
    if (isBefore(erased, value)) {
      buffer!.entries.delete(field)
      state.counters.erased++
    } else buffer!.entries.set(field, `${generation}~${value.replace(/^\d+~/, '')}`)
  }
  // Points that were admitted after the erasure belong to a new pilgrim, who keeps windows and position.
  if (buffer !== undefined && buffer.entries.size > 0) return
  state.buffers.delete(userId)
  for (const kind of SUBMISSION_KINDS) state.windows.delete(`${kind}:${userId}`)
  state.live.delete(userId)
  state.hidden.delete(userId)
  state.refused.delete(userId)
}

function hold(
  state: State,
  [, userId, field, value, nowMs, expiresMs]: Extract<Change, ['put', ...unknown[]]>,
) {
  const buffer = bufferOf(state, userId, nowMs) ?? { entries: new Map(), sinceMs: nowMs, expiresMs }
  buffer.entries.set(field, value)
  buffer.expiresMs = expiresMs
  state.buffers.set(userId, buffer)
}

function drop(state: State, userId: string, fields: readonly string[], nowMs: number): void {
  const buffer = state.buffers.get(userId)
  if (buffer === undefined) return
  for (const field of fields) if (buffer.entries.delete(field)) state.counters.settled++
  buffer.sinceMs = nowMs
  if (buffer.entries.size === 0) state.buffers.delete(userId)
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
