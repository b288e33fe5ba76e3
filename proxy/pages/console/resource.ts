/**
 * What a view reads from the service: the last answer with its time, read again at intervals while the page is seen.
 * A refusal keeps the last answer, which the view then shows as stale.
 */
import { type ReadonlySignal, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Answer, ClientError } from '#shared/client/index.ts'

export interface Resource<T> {
  /** What is read. */
  readonly key: string
  readonly value: ReadonlySignal<T | null>
  /** When the last answer came, epoch milliseconds. */
  readonly at: ReadonlySignal<number | null>
  /** Why the latest reading failed; null after a success. */
  readonly error: ReadonlySignal<ClientError | null>
  /** After this time without an answer, the value is stale. */
  readonly staleMs: number
  reload(): Promise<void>
}

type Load<T> = (signal: AbortSignal) => Promise<Answer<T>>

const open = new Set<() => Promise<void>>()

/** Reads everything that is on the page again: after an action, its effect is shown as the service tells it. */
export const reloadAll = async (): Promise<void> => {
  await Promise.all([...open].map((reload) => reload()))
}

const LATE = 2.5
const SHORTEST_STALE_MS = 20_000

/** @param key names what is read; with another key another resource is made */
function createResource<T>(key: string, load: () => Load<T>, everyMs: number) {
  const value = signal<T | null>(null)
  const at = signal<number | null>(null)
  const error = signal<ClientError | null>(null)
  let controller: AbortController | null = null
  let timer: number | undefined
  const reload = async (): Promise<void> => {
    clearTimeout(timer)
    controller?.abort()
    const mine = new AbortController()
    controller = mine
    const answer = await load()(mine.signal)
    if (mine.signal.aborted) return
    if (answer.ok) {
      value.value = answer.data
      at.value = Date.now()
    }
    error.value = answer.ok ? null : answer.error
    const waitMs = answer.ok ? 0 : (answer.error.retryAfter ?? 0) * 1_000
    // As long as the service says; what is read once is read again only then.
    const nextMs = waitMs > 0 ? waitMs : everyMs
    if (nextMs > 0) timer = window.setTimeout(tick, nextMs)
  }
  // A page that nobody sees asks nothing.
  const tick = (): void => {
    if (document.hidden) document.addEventListener('visibilitychange', tick, { once: true })
    else void reload()
  }
  const stop = (): void => {
    controller?.abort()
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', tick)
  }
  const staleMs = everyMs === 0 ? Infinity : Math.max(SHORTEST_STALE_MS, LATE * everyMs)
  return { resource: { key, value, at, error, staleMs, reload }, stop }
}

/**
 * Reads while the component is shown, and again when `key` changes.
 * @param everyMs time between readings; 0: once
 */
export function useResource<T>(load: Load<T>, everyMs: number, key: string): Resource<T> {
  const latest = useRef(load)
  latest.current = load
  const { resource, stop } = useMemo(
    () => createResource<T>(key, () => latest.current, everyMs),
    [key, everyMs],
  )
  useEffect(() => {
    open.add(resource.reload)
    void resource.reload()
    return () => {
      open.delete(resource.reload)
      stop()
    }
  }, [resource, stop])
  return resource
}
