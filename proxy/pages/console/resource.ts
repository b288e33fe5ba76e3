/**
 * What a view reads from the service: the last answer with its time, read again at intervals while the page is seen.
 * A refusal keeps the last answer, which the view then shows as stale. A view that is opened again shows the last
 * answer from memory, and asks only when that is old: each call of an operator counts in the token's limit.
 */
import type { Answer, ClientError } from '#shared/client/index.ts'
import { type ReadonlySignal, computed, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { now, serviceNow } from './clock.ts'

export interface Resource<T> {
  readonly value: ReadonlySignal<T | null>
  /** When the last answer came, epoch milliseconds. */
  readonly at: ReadonlySignal<number | null>
  /** Why the latest reading failed; null after a success. */
  readonly error: ReadonlySignal<ClientError | null>
  /** After this time without an answer, the value is stale. */
  readonly staleMs: number
  /** It is not read again by itself. */
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

/** The last answer of each resource that is read at intervals, by the first word of its key. */
const memory = new Map<string, Remembered>()
/** A remembered answer that is younger is not asked for again. */
const FRESH_MS = 15_000

const nameOf = (key: string): string => key.split(' ', 1)[0]!

function recall(key: string): Remembered | null {
  const last = memory.get(nameOf(key))
  return last?.key === key ? last : null
}

/** Forgets what views that are not shown have read: something has happened that may change it. */
export const forgetAnswers = (): void => memory.clear()

/** Ends all reading and forgets every answer: the next operator may be allowed less. */
export function closeResources(): void {
  for (const { stop } of open) stop()
  askedAt.value = null
  memory.clear()
}

/** Reads everything that is on the page again: after an action, its effect is shown as the service tells it. */
export const reloadAll = async (): Promise<void> => {
  forgetAnswers()
  await Promise.all([...open].map(({ reload }) => reload()))
}

/** What is known without asking, as an answer. */
export const answered = <T>(data: T): Answer<T> => ({ ok: true, status: 200, data, headers: new Headers() })

const LATE = 2.5
export const SHORTEST_STALE_MS = 20_000
/** What is read once is of then, and says so after this time. */
const ONCE_STALE_MS = 60_000

/** When the service was last heard, epoch milliseconds. */
export const heardAt = signal<number | null>(null)
/** When the first reading began to which the service has said nothing since; null: it answers. */
const askedAt = signal<number | null>(null)
const SILENT_MS = 10_000
/** Readings that wait for their answer. */
let pending = 0
/** Something came from the service. */
export function heard(): void {
  heardAt.value = serviceNow()
  askedAt.value = null
}
/** The service hangs: it neither answers nor refuses. */
export const isSilent = computed(() => askedAt.value !== null && now.value - askedAt.value > SILENT_MS)

/** The wait before the next try, as long as the service says; what is read once is read again only then. */
function waitMs({ status, retryAfter = 0 }: ClientError): number {
  const wait = status === 429 ? waitAt(serviceNow()) : null
  return wait === null ? retryAfter * 1_000 : wait.untilMs - serviceNow()
}

/** What no answer came to, or what the service could not answer, is read again soon, however seldom it is read. */
const againMs = ({ status }: ClientError): number => (status === 0 || status >= 500 ? FRESH_MS : Infinity)

/** @param key names what is read; with another key another resource is made */
function createResource<T>(key: string, load: (signal: AbortSignal) => Promise<Answer<T>>, everyMs: number) {
  const last = everyMs > 0 ? recall(key) : null
  // The same key is of the same endpoint and query.
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
    const mine = new AbortController()
    controller = mine
    wait(true)
    askedAt.value ??= serviceNow()
    const answer = await load(mine.signal)
    if (mine.signal.aborted) return
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
  // A page that nobody sees asks nothing.
  const tick = (): void => {
    if (document.hidden) document.addEventListener('visibilitychange', tick, { once: true })
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
    // Nobody waits for an answer any more. A page that was cut off stays so until something comes.
    if (pending === 0 && !isSilent.peek()) askedAt.value = null
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', tick)
  }
  const staleMs = everyMs === 0 ? ONCE_STALE_MS : Math.max(SHORTEST_STALE_MS, LATE * everyMs)
  return { resource: { value, at, error, staleMs, isOnce: everyMs === 0, reload }, start, stop }
}

/**
 * Reads while the component is shown, and again when what is asked changes. What is read once is not remembered.
 * @param everyMs time between readings, in milliseconds; 0: once
 * @param name one word for what is read: its last answer is remembered under it
 */
export function useResource<T, I>(
  load: Load<T, I>,
  everyMs: number,
  name: string,
  input: I = {} as I,
): Resource<T> {
  const latest = useRef({ load, input })
  latest.current = { load, input }
  const key = `${name} ${JSON.stringify(input)}`
  const { resource, start, stop } = useMemo(
    () => createResource<T>(key, (signal) => latest.current.load(latest.current.input, { signal }), everyMs),
    [key, everyMs],
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

// The token's limit of calls: after a 429 nothing is read until the time that the service has named. One bar says so
// for the whole page.

interface Wait {
  readonly error: ClientError
  /** Epoch milliseconds. */
  readonly untilMs: number
}

const UNKNOWN_S = 60
/** Calls that were refused together name nearly the same end, which is one wait. */
const SAME_MS = 1_500

const latest = signal<Wait | null>(null)

const secondsOf = ({ retryAfter = 0 }: ClientError): number => (retryAfter > 0 ? retryAfter : UNKNOWN_S)

export function startWait(error: ClientError): void {
  const untilMs = serviceNow() + secondsOf(error) * 1_000
  if (untilMs > (latest.peek()?.untilMs ?? 0) + SAME_MS) latest.value = { error, untilMs }
}

/** Another token has a limit of its own. */
export const endWait = (): void => {
  latest.value = null
}

const waitAt = (nowMs: number): Wait | null => {
  const wait = latest.peek()
  return wait !== null && wait.untilMs > nowMs ? wait : null
}

/** Whole seconds until the page goes on; 0: there is no wait. */
export const secondsLeft = computed(() =>
  Math.max(0, Math.ceil(((latest.value?.untilMs ?? 0) - Math.max(now.value, serviceNow())) / 1_000)),
)
