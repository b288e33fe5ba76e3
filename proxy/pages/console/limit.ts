/**
 * The token's limit of calls: after a 429 nothing is read until the time that the service has named. One bar says so
 * for the whole page.
 */
import { computed, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { now } from './clock.ts'

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

/** Notes a refusal of the limit. */
export function startWait(error: ClientError): void {
  const untilMs = Date.now() + secondsOf(error) * 1_000
  if (untilMs > (latest.peek()?.untilMs ?? 0) + SAME_MS) latest.value = { error, untilMs }
}

/** Another token has a limit of its own. */
export const endWait = (): void => {
  latest.value = null
}

/** The wait that is not over. */
export const waitAt = (nowMs: number): Wait | null => {
  const wait = latest.peek()
  return wait !== null && wait.untilMs > nowMs ? wait : null
}

/** Whole seconds until the page goes on; 0: there is no wait. */
export const secondsLeft = computed(() =>
  Math.max(0, Math.ceil(((latest.value?.untilMs ?? 0) - Math.max(now.value, Date.now())) / 1_000)),
)
