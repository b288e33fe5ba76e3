/**
 * Data that a view reads from the service: the last answer with its time, polled while the page is visible.
 * After an error the last answer stays, marked as outdated. A reopened view shows the cached answer and reads
 * only if it is old: each call counts toward the token's rate limit.
 */
import type { Answer, ClientError } from '#shared/client/index.ts'
import { type ReadonlySignal, computed, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { now, serviceNow } from './clock.ts'

export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>
  /** Time of the last answer, epoch milliseconds. */
  readonly at: ReadonlySignal<number | null>
  /** Error of the latest read; null after a success. */
  readonly error: ReadonlySignal<ClientError | null>
  /** After this time without an answer, the value is outdated. */
  readonly staleMs: number
  /** Read once, not polled. */
  readonly isOnce: boolean
  reload(): Promise<void>
}

type Load<T, I> = (input: I, options: { readonly signal: AbortSignal }) => Promise<Answer<T>>

interface Open {
  readonly reload: () => Promise<void>
  readonly stop: () => void
}

const open = new Set<Open>()

interface Remembered {
  readonly key: string
  readonly value: unknown
  readonly at: number
}

/** Last answer of each polled resource, by the first word of its key. */
const memory = new Map<string, Remembered>()
/** A cached answer younger than this is not read again. */
const FRESH_MS = 15_000

const nameOf = (key: string): string => key.split(' ', 1)[0]!

function recall(key: string): Remembered | null {
  const last = memory.get(nameOf(key))
  return last?.key === key ? last : null
}

/** Clears the cache of hidden views: something has happened that may change it. */
export const forgetAnswers = (): void => memory.clear()

/** Stops all reads and clears every answer: the next operator may have fewer rights. */
export function closeResources(): void {
  for (const { stop } of open) stop()
  askedAt.value = null
  memory.clear()
}

/** Reads everything on the page again, so that an action shows its effect as the service reports it. */
export const reloadAll = async (): Promise<void> => {
  forgetAnswers()
  await Promise.all([...open].map(({ reload }) => reload()))
}

/** Wraps known data as an answer. */
export const answered = <T>(data: T): Answer<T> => ({ ok: true, status: 200, data, headers: new Headers() })

const LATE = 2.5
export const SHORTEST_STALE_MS = 20_000
/** Data that are read once count as outdated after this time. */
const ONCE_STALE_MS = 60_000

/** Time of the last response of the service, epoch milliseconds. */
export const heardAt = signal<number | null>(null)
/** Start of the first read that is still unanswered; null: the service responds. */
const askedAt = signal<number | null>(null)
const SILENT_MS = 10_000
/** Number of reads in progress. */
let pending = 0
/** The service has responded. */
export function heard(): void {
  heardAt.value = serviceNow()
  askedAt.value = null
}
/** The service hangs: it neither answers nor rejects. */
export const isSilent = computed(() => askedAt.value !== null && now.value - askedAt.value > SILENT_MS)

/**
 * The delay before the next attempt, as the service requests; data that are read once are read again only
 * then.
 */
function waitMs({ status, retryAfter = 0 }: ClientError): number {
  const wait = status === 429 ? waitAt(serviceNow()) : null
  return wait === null ? retryAfter * 1_000 : wait.untilMs - serviceNow()
}

/** Retry delay after no answer or a server error; soon, even for rarely read data. */
const againMs = ({ status }: ClientError): number => (status === 0 || status >= 500 ? FRESH_MS : Infinity)

/** @param key identifies what is read; another key creates another resource */
function createResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<Answer<T>>,
  everyMs: number,
  inBackground: boolean,
) {
  const last = everyMs > 0 ? recall(key) : null
  // The same key means the same endpoint and query.
  const value = signal<T | null>((last?.value as T | undefined) ?? null)
  const at = signal<number | null>(last?.at ?? null)
  const error = signal<ClientError | null>(null)
  let controller: AbortController | null = null
  let isPending = false
  const wait = (forAnswer: boolean): void => {
    pending += Number(forAnswer) - Number(isPending)
    isPending = forAnswer
  }
  let timer: number | undefined
  const reload = async (): Promise<void> => {
    clearTimeout(timer)
    controller?.abort()
    const rest = waitAt(serviceNow())
    if (rest !== null) {
      wait(false)
      error.value = rest.error
      timer = window.setTimeout(tick, rest.untilMs - serviceNow())
      return
    }
    const current = new AbortController()
    controller = current
    wait(true)
    askedAt.value ??= serviceNow()
    const answer = await load(current.signal)
    if (current.signal.aborted) return
    wait(false)
    if (!answer.ok && answer.error.status > 0) askedAt.value = null
    if (answer.ok) {
      heard()
      value.value = answer.data
      at.value = serviceNow()
      if (everyMs > 0) memory.set(nameOf(key), { key, value: answer.data, at: at.value })
    }
    error.value = answer.ok ? null : answer.error
    const nextMs = answer.ok ? everyMs : waitMs(answer.error) || Math.min(everyMs, againMs(answer.error))
    if (nextMs > 0) timer = window.setTimeout(tick, nextMs)
  }
  const tick = (): void => {
    if (document.hidden && !inBackground) document.addEventListener('visibilitychange', tick, { once: true })
    else void reload()
  }
  const start = (): void => {
    const restMs = (last?.at ?? 0) + Math.min(FRESH_MS, everyMs) - serviceNow()
    if (restMs > 0) timer = window.setTimeout(tick, restMs)
    else void reload()
  }
  const stop = (): void => {
    controller?.abort()
    wait(false)
    // No read is waiting. A page that was cut off stays so until a response arrives.
    if (pending === 0 && !isSilent.peek()) askedAt.value = null
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', tick)
  }
  const staleMs = everyMs === 0 ? ONCE_STALE_MS : Math.max(SHORTEST_STALE_MS, LATE * everyMs)
  return { resource: { value, at, error, staleMs, isOnce: everyMs === 0, reload }, start, stop }
}

/**
 * Reads while the component is shown, and again when the input changes. Data that are read once are not
 * cached.
 * @param everyMs polling interval, in milliseconds; 0: read once
 * @param name one word that identifies the data: the key of the cached answer
 * @param inBackground whether a hidden page reads too
 */
export function useResource<T, I>(
  load: Load<T, I>,
  everyMs: number,
  name: string,
  input: I = {} as I,
  inBackground = false,
): Resource<T> {
  const latest = useRef({ load, input })
  latest.current = { load, input }
  const key = `${name} ${JSON.stringify(input)}`
  const { resource, start, stop } = useMemo(
    () =>
      createResource<T>(
        key,
        (signal) => latest.current.load(latest.current.input, { signal }),
        everyMs,
        inBackground,
      ),
    [key, everyMs, inBackground],
  )
  useEffect(() => {
    const shown = { reload: resource.reload, stop }
    open.add(shown)
    start()
    return () => {
      open.delete(shown)
      stop()
    }
  }, [resource, start, stop])
  return resource
}

// The token's rate limit: after a 429 nothing is read until the time that the service requests. One bar
// shows this for the whole page.

interface Wait {
  readonly error: ClientError
  /** Epoch milliseconds. */
  readonly untilMs: number
}

const UNKNOWN_S = 60
/** Calls that were rejected together have nearly the same end and count as one wait. */
const SAME_MS = 1_500

const latest = signal<Wait | null>(null)

const secondsOf = ({ retryAfter = 0 }: ClientError): number => (retryAfter > 0 ? retryAfter : UNKNOWN_S)

export function startWait(error: ClientError): void {
  const untilMs = serviceNow() + secondsOf(error) * 1_000
  if (untilMs > (latest.peek()?.untilMs ?? 0) + SAME_MS) latest.value = { error, untilMs }
}

/** Another token has its own limit. */
export const endWait = (): void => {
  latest.value = null
}

const waitAt = (nowMs: number): Wait | null => {
  const wait = latest.peek()
  return wait !== null && wait.untilMs > nowMs ? wait : null
}

/** Whole seconds until the page continues; 0: no wait. */
export const secondsLeft = computed(() =>
  Math.max(0, Math.ceil(((latest.value?.untilMs ?? 0) - Math.max(now.value, serviceNow())) / 1_000)),
)
