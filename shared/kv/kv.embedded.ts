/** The kv of the embedded run: memory, with every change in a log that survives kill -9 and power cuts. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { admit, move, put } from './embedded/admission.ts'
import { openChangeLog } from './embedded/log.ts'
import { apply, type Change, createState, prune, snapshot, type State } from './embedded/state.ts'
import type { Kv } from './kv.ts'

/** Turns after which the log is rewritten when the buffer has just been emptied. */
const COMPACT_AFTER = 20_000

interface Store {
  readonly state: State
  readonly now: () => number
  /** Applies a change now; durable with the next commit. */
  readonly change: (change: Change) => void
  readonly committed: () => Promise<void>
}

/**
 * Opens the store at `path` and replays what it held.
 * @throws when another process has it open
 */
export async function openEmbeddedKv(options: {
  readonly path: string
  readonly now?: () => number
}): Promise<Kv> {
  const { path, now = Date.now } = options
  mkdirSync(dirname(path), { recursive: true })
  const state = createState()
  const log = openChangeLog<Change>(path, (change) => apply(state, change))
  const change = (one: Change) => {
    apply(state, one)
    log.append(one)
  }
  const compact = () => {
    prune(state, now())
    log.compact(snapshot(state))
  }
  if (log.length() > 0) compact()
  const store: Store = { state, now, change, committed: log.committed }

  return {
    partitions: 1,
    async admit(_partition, submissions, rules) {
      prune1(state, submissions, now())
      const verdicts = submissions.map((one) => admit({ state, nowMs: now(), rules, change }, one))
      await log.committed()
      return verdicts
    },
    async restore(_partition, submissions, rules) {
      const admission = { state, nowMs: now(), rules, change }
      for (const submission of submissions) {
        put(admission, submission, 0, false)
        move(admission, submission)
      }
      await log.committed()
    },
    ...bufferVerbs(store),
    async settle(_partition, stored) {
      for (const { userId, entries } of stored) {
        const held = state.buffers.get(userId)?.entries
        const same = entries.filter(({ field, value }) => held?.get(field) === value)
        if (same.length > 0) change(['drop', userId, same.map(({ field }) => field)])
      }
      await log.committed()
      if (log.length() > COMPACT_AFTER) compact()
    },
    ...statusVerbs(store),
    limit: slidingWindows(now),
    ...cacheVerbs(store),
    ...lockVerbs(now),
    async probe() {},
    memoryUse: async () => 0,
    // A store in this process is never away.
    onReconnect() {},
    async close() {
      log.close()
    },
  }
}

/** Drops what has expired of the pilgrims at hand, so that an old buffer is not renewed by a new point. */
function prune1(state: State, submissions: readonly { readonly userId: string }[], nowMs: number): void {
  for (const { userId } of submissions) {
    const buffer = state.buffers.get(userId)
    if (buffer !== undefined && buffer.expiresMs <= nowMs) state.buffers.delete(userId)
  }
}

function bufferVerbs({ state, now, change, committed }: Store) {
  const entriesOf = (userId: string) =>
    [...(state.buffers.get(userId)?.entries ?? [])].map(([field, value]) => ({ field, value }))
  return {
    peek: async (userId) => entriesOf(userId),
    async pendingUsers() {
      prune(state, now())
      return [...state.buffers].sort(([, a], [, b]) => a.sinceMs - b.sinceMs).map(([userId]) => userId)
    },
    drain: async (_partition, userIds) => userIds.map((userId) => ({ userId, entries: entriesOf(userId) })),
    async renew(_partition, userIds, retentionMs) {
      for (const userId of userIds) change(['renew', userId, now() + retentionMs])
      await committed()
    },
    bufferSize: async () => state.buffers.size,
    async oldestPending() {
      let oldest: number | null = null
      for (const { sinceMs } of state.buffers.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs)
      return oldest
    },
    books: async () => [{ ...state.books }],
    async hide(userId, hidden) {
      change(['hide', userId, hidden])
      await committed()
    },
    hidden: async () => [...state.hidden],
    moved: async (_partition, sinceMs, count) =>
      [...state.live]
        .filter(([, { movedMs }]) => movedMs >= sinceMs)
        .map(([userId, moved]) => ({ userId, ...moved }))
        .sort((a, b) => a.movedMs - b.movedMs)
        .slice(0, count),
  } satisfies Partial<Kv>
}

function statusVerbs({ state, change, committed }: Store): Pick<Kv, 'status' | 'setStatus'> {
  return {
    status: async () => state.status,
    async setStatus(status) {
      if (state.status === null || state.status.version <= status.version) change(['status', status])
      if (state.books.epoch === '') change(['epoch', crypto.randomUUID()])
      await committed()
    },
  }
}

/** Windows of the general limits. They live in memory only: a restart forgives. */
function slidingWindows(now: () => number): Kv['limit'] {
  const windows = new Map<string, { ms: number; id: string }[]>()
  let lastSweep = now()
  return async (key, id, { max, windowMs }) => {
    const nowMs = now()
    if (nowMs - lastSweep > windowMs) {
      lastSweep = nowMs
      for (const [other, calls] of windows)
        if (calls.every((call) => call.ms <= nowMs - 3_600_000)) windows.delete(other)
    }
    const calls = (windows.get(key) ?? []).filter((call) => call.ms > nowMs - windowMs)
    windows.set(key, calls)
    if (calls.some((call) => call.id === id))
      return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
    if (calls.length >= max)
      return { allowed: false, remaining: 0, retryAfterMs: calls[calls.length - max]!.ms + windowMs - nowMs }
    calls.push({ ms: nowMs, id })
    return { allowed: true, remaining: max - calls.length, retryAfterMs: 0 }
  }
}

function cacheVerbs({ state, now, change, committed }: Store) {
  const cached = async (key: string): Promise<string | null> => {
    const held = state.cache.get(key)
    return held !== undefined && held.expiresMs > now() ? held.value : null
  }
  const cache = async (key: string, value: string, ttlMs: number): Promise<void> => {
    change(['cache', key, value, now() + ttlMs])
    await committed()
  }
  return {
    cached,
    cache,
    async cacheOnce(key, value, ttlMs) {
      const held = await cached(key)
      if (held !== null) return held
      await cache(key, value, ttlMs)
      return value
    },
    async forget(key) {
      change(['forget', key])
      await committed()
    },
  } satisfies Partial<Kv>
}

/** Locks live in memory: they fall with the one process that can hold them. */
function lockVerbs(now: () => number): Pick<Kv, 'lock' | 'renewLock' | 'unlock'> {
  const locks = new Map<string, { token: string; expiresMs: number }>()
  const held = (name: string, token: string) => {
    const lock = locks.get(name)
    return lock?.token === token && lock.expiresMs > now() ? lock : null
  }
  return {
    async lock(name, ttlMs) {
      const lock = locks.get(name)
      if (lock !== undefined && lock.expiresMs > now()) return null
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
  }
}
