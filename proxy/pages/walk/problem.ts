/** Turns an error of the client into a sentence in the pilgrim's language: what happened, and what to do. */
import { words } from './words.ts'
import type { WalkWords } from '#shared/locales/words.ts'
import type { QueueState } from '#shared/client/index.ts'
import type { PositionFault } from './recording/positions.ts'
import { inLine } from './session/line-login.ts'
import { consentWithdrawn } from './session/current-state.ts'
import { pageWords } from '../frame/language.ts'

export type Problem = {
  readonly code: NonNullable<QueueState['why']>
  readonly retryAfter?: number | undefined
}

type ProblemWords = WalkWords['problems']

const SENTENCES: Readonly<
  Record<
    Problem['code'],
    Exclude<keyof ProblemWords, 'rateLimited' | 'signInButton' | 'notDone'> | 'paused' | 'ended'
  >
> = {
  offline: 'offline',
  network: 'network',
  timeout: 'network',
  aborted: 'network',
  unavailable: 'unavailable',
  'buffer-full': 'unavailable',
  internal: 'unavailable',
  'too-slow': 'network',
  'rate-limited': 'unavailable',
  paused: 'paused',
  ended: 'ended',
  unauthorized: 'signIn',
  forbidden: 'forbidden',
  erased: 'erased',
  'not-found': 'notFound',
  gone: 'notFound',
  'method-not-allowed': 'unexpected',
  conflict: 'conflict',
  storage: 'storage',
  clock: 'clock',
  'invalid-request': 'invalid',
  'too-large': 'tooLarge',
  'not-modified': 'unexpected',
  unexpected: 'unexpected',
}

const wholeSeconds = (retryAfter = 60): number => Math.max(1, Math.ceil(retryAfter))

/** The sentence for data on the device, which are retried automatically. */
export function sentenceOf({ code, retryAfter }: Problem): string {
  if (code === 'rate-limited') return words.value.problems.rateLimited(wholeSeconds(retryAfter))
  if (code === 'forbidden' && consentWithdrawn.value) return words.value.queue.afterConsent
  if (!navigator.onLine && (code === 'network' || code === 'timeout')) return words.value.problems.offline
  const sentence = SENTENCES[code] ?? 'unexpected'
  if (sentence === 'paused') return pageWords.value.paused
  if (sentence === 'ended') return words.value.status.ended
  return words.value.problems[sentence]
}

/** Faults of recording that the pilgrim can fix. The others pass by themselves, or appear as a gap. */
export const FIXABLE: ReadonlySet<PositionFault> = new Set(['permission', 'rough', 'storage', 'no-answer'])

/** Why there is no position. */
export const positionSentence = (fault: PositionFault): string =>
  words.value.problems[fault === 'permission' && inLine ? 'permissionInLine' : fault]

/** The sentence for an action that is not retried: the pilgrim has to repeat it. */
export function notDoneSentence(problem: Problem): string {
  const { notDone } = words.value.problems
  const { code, retryAfter } = problem
  if (code === 'rate-limited') return notDone.rateLimited(wholeSeconds(retryAfter))
  const sentence = SENTENCES[code]
  if (sentence !== 'offline' && sentence !== 'network' && sentence !== 'unavailable')
    return sentenceOf(problem)
  return notDone[navigator.onLine ? sentence : 'offline']
}
