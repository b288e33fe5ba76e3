/** The embedded driver of the kv: state in memory, and every change in a log that survives kill -9 and power cuts. */
import { type MachineClock, machineNow } from '#shared/runtime/clock.ts'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { admit, move, put } from './admit-in-memory.ts'
import { apply, bufferOf, type Change, countersOf, createState, prune, snapshot } from './embedded/state.ts'
import { type Erased, type Kv, KvUnavailable, type Receipt, userHash } from './kv.ts'
import { oncePerTurn, openChangeLog } from './embedded/log.ts'

/**
 * Opens the log at `path` and replays it into memory.
 * @param compactAfter batches of changes after which the log is rewritten
 * @param onError called when the log could not be rewritten; the old log stays in use
 * @throws when another process has the file open
 */
function openStore(path: string, now: MachineClock, compactAfter: number, onError: (error: unknown) => void) {
  const state = createState()
  const log = openChangeLog<Change>(path, (change) => apply(state, change))
  const rewrite = () => {
    prune(state, now())
    log.compact(snapshot(state))
  }
  const compact = () => {
    try {
      rewrite()
    } catch (error) {
      onError(error)
    }
  }
  const change = (change: Change) => {
    log.append(change)
    apply(state, change)
  }
  // A log of a release without counters: its pending points count as accepted before counting began.
  const uncounted = -countersOf(state, now()).expired
  if (uncounted > 0) change(['entered', 'before', uncounted, 0, 0, 0])
  if (log.length() > 0) compact()
  return {
    state,
    now,
    /** Applies a change immediately; it is durable after the next commit. @throws KvUnavailable; then nothing changes */
    change,
    /** Resolves when all changes so far are on disk. @throws KvUnavailable */
    committed: log.committed,
    /**
     * Resolves when the log holds only the current state, and nothing older is on disk. Calls of one turn of the event
     * loop share the work.
     * @throws KvUnavailable
     */
    rewritten: oncePerTurn(() => {
      try {
        rewrite()
      } catch (error) {
        throw new KvUnavailable('the log of the embedded kv could not be written to disk', { cause: error })
      }
    }),
    /** Rewrites the log when it has grown long. */
    tidy() {
      if (log.length() > compactAfter) compact()
    },
    close: log.close,
  }
}

type Store = ReturnType<typeof openStore>

/** How often expired windows are deleted. */
const SWEEP_MS = 60_000

/** Sliding windows in memory only: a restart empties them. */
function slidingWindows(now: MachineClock): Kv['limit'] {
  const windows = new Map<string, { calls: { ms: number; id: string }[]; expiresMs: number }>()
  let sweepAtMs = now() + SWEEP_MS
  return async (key, id, { max, windowMs }) => {
    const nowMs = now()
    if (nowMs >= sweepAtMs) {
      sweepAtMs = nowMs + SWEEP_MS
      for (const [other, { expiresMs }] of windows) if (expiresMs <= nowMs) windows.delete(other)
    }
    const calls = (windows.get(key)?.calls ?? [])
      // If the clock was set back, later calls count from now, so that they do not block until it has caught up.
      .map((call) => (call.ms > nowMs ? { ...call, ms: nowMs } : call))
      .filter((call) => call.ms > nowMs - windowMs)
    if (calls.some((call) => call.id === id))
      return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
    windows.set(key, { calls, expiresMs: nowMs + windowMs })
    if (calls.length >= max)
      return { allowed: false, remaining: 0, retryAfterMs: calls[calls.length - max]!.ms + windowMs - nowMs }
    calls.push({ ms: nowMs, id })
    windows.set(key, { calls, expiresMs: nowMs + windowMs })
    return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
  }
}

/** Batches of changes after which an acknowledgement rewrites the log. */
const COMPACT_AFTER = 20_000

/**
 * Opens the store at `path` and replays its log.
 * @throws when another process has it open
 */
export async function openEmbeddedKv(options: {
  readonly path: string
  readonly onError: (error: unknown) => void
  readonly now?: () => number
  readonly compactAfter?: number
}): Promise<Kv> {
  const { path, onError, now = machineNow, compactAfter = COMPACT_AFTER } = options
  mkdirSync(dirname(path), { recursive: true })
  const store = openStore(path, now, compactAfter, onError)
  const caller = crypto.randomUUID()
  return {
    partitions: 1,
    caller,
    ...admissionVerbs(store, caller),
    ...readingVerbs(store),
    ...flushVerbs(store),
    ...liveMapVerbs(store),
    ...statusVerbs(store),
    limit: slidingWindows(now),
    ...cacheVerbs(store),
    ...lockVerbs(now),
    clock: async () => now(),
    // The file lock admits only one process.
    others: async () => 0,
    async clear() {
      store.change(['clear'])
      await store.committed()
    },
    // It rejects when the disk refuses the log.
    probe: store.committed,
    memoryUse: async () => 0,
    servers: async () => [],
    movingSlots: async () => 0,
    // A store in this process is always available.
    onReconnect() {},
    close: async () => store.close(),
  }
}

function admissionVerbs({ state, now, change, committed }: Store, caller: string) {
  const listeners: ((receipt: Receipt) => void)[] = []
  const total = () => state.counters.callers.get(caller) ?? 0

  /** Adds points, waits until they are on disk, and calls the listeners. */
  const counted = async <T>(add: () => T): Promise<{ result: T; points: number }> => {
    const before = total()
    const result = add()
    const receipt = { partition: 0, epoch: state.counters.epoch, points: total() - before, total: total() }
    await committed()
    if (receipt.points > 0) for (const listener of listeners) listener(receipt)
    return { result, points: receipt.points }
  }

  return {
    async admit(_partition, submissions, rules) {
      const { result } = await counted(() => {
        const admission = { state, nowMs: now(), rules, caller, change }
        return submissions.map((submission) => admit(admission, submission))
      })
      return result
    },
    async restore(_partition, submissions, rules) {
      const { points } = await counted(() => {
        if (state.counters.epoch === '') change(['epoch', crypto.randomUUID()])
        const admission = { state, nowMs: now(), rules, caller, change }
        for (const submission of submissions) {
          // A pilgrim erased since then has no position on the map.
          if (put(admission, submission, 0, false)?.gone === 0) move(admission, submission)
        }
      })
      return points
    },
    onReceipt(listener) {
      listeners.push(listener)
    },
  } satisfies Partial<Kv>
}

const entriesOf = ({ state, now }: Store, userId: string) =>
  [...(bufferOf(state, userId, now())?.entries ?? [])].map(([field, value]) => ({ field, value }))

function readingVerbs(store: Store) {
  const { state } = store
  return {
    peek: async (userId) => entriesOf(store, userId),
    peekEach: async (userIds) => userIds.map((userId) => entriesOf(store, userId)),
    pendingOf: async (userIds) =>
      userIds.map((userId) => bufferOf(state, userId, store.now())?.entries.size ?? 0),
    bufferSize: async () => state.buffers.size,
    async oldestPending() {
      let oldest: number | null = null
      for (const { sinceMs } of state.buffers.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs)
      return oldest
    },
    counters: async () => [countersOf(state, store.now())],
  } satisfies Partial<Kv>
}

/** An erasure in the format of the log; logs of earlier releases have no `stands`. */
const recorded = ({ userHash: hash, generation, erasedMs, stands = false }: Erased): Required<Erased> => ({
  userHash: hash,
  generation,
  erasedMs,
  stands,
})

function liveMapVerbs({ state, now, change, committed, rewritten }: Store) {
  return {
    async erase(userId, erased, caches = []) {
      const before = state.counters.erased
      for (const key of caches) change(['forget', key])
      change(['erase', userId, recorded({ userHash: userHash(userId), ...erased })])
      const pending = state.counters.erased - before
      // The log still holds the erased data, and its changes contain the user id.
      await rewritten()
      return pending
    },
    async storeErasures(erased) {
      for (const one of erased) change(['erased', recorded(one)])
      await committed()
    },
    erased: async () => [...state.erased.values()].map(recorded),
    erasedAfter: async (_partition, mark) => ({
      userHashes: mark === state.erasures ? [] : [...state.erased.keys()].slice(mark - state.erasures),
      mark: state.erasures,
    }),
    moved: async (_partition, sinceMs, count) =>
      [...state.live]
        .filter(([, { movedMs }]) => movedMs >= sinceMs)
        .slice(0, count)
        .map(([userId, { returnsMs = 0, ...place }]) => ({
          userId,
          ...place,
          hiddenUntilMs: state.hidden.has(userId) ? Infinity : returnsMs,
        })),
    // Not logged: a replay restores them, and the next call removes them again.
    async dropPositions(_partition, skip, count, fromMs, toMs) {
      const seen = [...state.live].slice(skip, skip + count)
      const old = seen.filter(([, { t }]) => t < fromMs || t > toMs)
      for (const [userId] of old) state.live.delete(userId)
      return { seen: seen.length, dropped: old.length }
    },
    async hide(userId, hidden, refused = false) {
      change(['hide', userId, hidden, refused, now()])
      await committed()
    },
    hidden: async () => [...state.hidden],
    refused: async () => [...state.refused],
  } satisfies Partial<Kv>
}

function flushVerbs(store: Store) {
  const { state, now, change, committed } = store
  return {
    epoch: async () => state.counters.epoch,
    async pendingUsers() {
      prune(state, now())
      // Every flush begins with this call. Without points there is nothing to acknowledge, but versions of the map
      // still fill the log.
      store.tidy()
      return [...state.buffers].sort(([, a], [, b]) => a.sinceMs - b.sinceMs).map(([userId]) => userId)
    },
    drain: async (_partition, userIds) =>
      userIds.map((userId) => ({ userId, entries: entriesOf(store, userId) })),
    async acknowledge(_partition, stored, epoch = '') {
      if (epoch !== '' && epoch !== state.counters.epoch) return
      for (const { userId, entries } of stored) {
        const held = state.buffers.get(userId)?.entries
        const same = entries.filter(({ field, value }) => held?.get(field) === value)
        if (same.length > 0) change(['drop', userId, same.map(({ field }) => field), now()])
      }
      await committed()
      store.tidy()
    },
    async renew(_partition, userIds, retentionMs) {
      for (const userId of userIds) change(['renew', userId, now() + retentionMs])
      await committed()
    },
  } satisfies Partial<Kv>
}

function statusVerbs({ state, change, committed }: Store) {
  return {
    status: async () => state.status,
    async setStatus({ status, version, message }) {
      // An empty message counts as no message.
      if (state.status === null || state.status.version <= version)
        change(['status', { status, version, message: message || null }])
      if (state.counters.epoch === '') change(['epoch', crypto.randomUUID()])
      await committed()
    },
  } satisfies Partial<Kv>
}

function cacheVerbs({ state, now, change, committed }: Store) {
  const held = (key: string): string | null => {
    const entry = state.cache.get(key)
    return entry !== undefined && entry.expiresMs > now() ? entry.value : null
  }
  return {
    cached: async (key) => held(key),
    async cache(key, value, ttlMs) {
      change(['cache', key, value, now() + ttlMs])
      await committed()
    },
    async cacheOnce(key, value, ttlMs) {
      const existing = held(key)
      if (existing === null) change(['cache', key, value, now() + ttlMs])
      await committed()
      return existing ?? value
    },
    async exchange(key, before, value, ttlMs) {
      if (held(key) !== before) return false
      change(value === null ? ['forget', key] : ['cache', key, value, now() + ttlMs])
      await committed()
      return true
    },
    async forget(key) {
      change(['forget', key])
      await committed()
    },
    async forgetAll(prefix) {
      for (const key of state.cache.keys()) if (key.startsWith(prefix)) change(['forget', key])
      await committed()
    },
  } satisfies Partial<Kv>
}

/** Locks are in memory only: they end with the one process that can hold them. */
function lockVerbs(now: MachineClock) {
  const locks = new Map<string, { token: string; expiresMs: number }>()
  const held = (name: string, token: string) => {
    const lock = locks.get(name)
    return lock?.token === token && lock.expiresMs > now() ? lock : null
  }
  return {
    async lock(name, ttlMs, silenceMs = ttlMs) {
      const lock = locks.get(name)
      if (lock !== undefined && lock.expiresMs - now() > ttlMs - silenceMs) return null
      const token = crypto.randomUUID()
      locks.set(name, { token, expiresMs: now() + ttlMs })
      return token
    },
    async renewLock(name, token, ttlMs) {
      const lock = held(name, token)
      if (lock !== null) lock.expiresMs = now() + ttlMs
      return lock !== null
    },
    async unlock(name, token) {
      if (held(name, token) !== null) locks.delete(name)
    },
  } satisfies Partial<Kv>
}
