/**
 * The GPS buffer as the services see it: what arrives in one turn of the event loop is admitted in one
 * atomic call per partition, and a check-in that the kv does not confirm in time goes to the journal.
 */
import { Refusal, unavailable } from '#shared/errors.ts'
import {
  type AdmissionRules,
  type Kv,
  KvFull,
  kvIsAway,
  type Submission,
  type Verdict,
  type VersionedStatus,
} from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/log.ts'
import type { Journal } from './journal.ts'
import { createOwnAdmission } from './own-admission.ts'
import { createReplay } from './replay.ts'
import { createTurn } from './turn.ts'

/** Above this share of its memory the kv takes no more points, so that it never has to refuse a flush. */
const MEMORY_CEILING = 0.9
/** How long a request that may not be journaled waits for the kv. */
const REQUEST_PATIENCE_MS = 2_000
const WATCH_MS = 1_000

export interface Buffer {
  /**
   * Admits a check-in. Resolves when it is durable: in the kv, or in the journal when the kv is late or down.
   * @throws Refusal 503 when neither can take it, or no status was ever known
   */
  admitCheckIn(submission: Submission): Promise<Verdict>
  /** Admits a track. @throws Refusal 503 when the kv does not take it; phones keep their points */
  admitTrack(submission: Submission): Promise<Verdict>
  /** Check-ins that wait in this replica's journal. */
  journaled(): number
  /** Starts replaying, adopting and watching. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface BufferOptions {
  readonly kv: Kv
  readonly journal: Journal
  readonly rules: AdmissionRules
  /** How long a check-in waits for the kv before it goes to the journal. */
  readonly admitMs: number
  /** Reads the status from the database and brings it to the kv. */
  readonly prime: () => Promise<VersionedStatus>
  readonly now: () => number
  readonly log: Log
}

const NO_KV = 'The short-term store is not reachable just now: keep your points and send them again.'
const FULL = 'The short-term store is nearly full: keep your points and send them later.'

export function createBuffer({ kv, journal, rules, admitMs, prime, now, log }: BufferOptions): Buffer {
  const own = createOwnAdmission(rules, now)
  const ask = createAsk(createTurn(kv, rules), prime, own.learn)
  /** Set by a call that was late: the next check-ins do not wait again until the kv has answered. */
  let kvIsLate = false
  let memoryFull = false
  const replay = createReplay({ kv, journal, rules, log, onAnswer: () => (kvIsLate = false) })
  let watching: Timer | undefined

  const toJournal = async (submission: Submission, asked: Promise<Verdict> | null): Promise<Verdict> => {
    const verdict = own.decide(submission)
    if (verdict.outcome === 'unknown') throw unavailable(NO_KV)
    if (verdict.outcome !== 'admitted' || verdict.duplicate) return verdict
    try {
      await replay.journal(submission, asked)
    } catch (error) {
      log.error('the journal does not take a check-in', errorFields(error))
      throw unavailable('The check-in can not be stored just now: please try again.', 10)
    }
    return verdict
  }

  const watch = async (): Promise<void> => {
    try {
      memoryFull = (await kv.memoryUse()) >= MEMORY_CEILING
      kvIsLate = false
    } catch (error) {
      if (!kvIsAway(error)) log.error('the kv is not watched', errorFields(error))
    }
  }

  const learnQuietly = async (): Promise<void> => {
    try {
      own.learn(await prime())
    } catch (error) {
      log.warn('the status is not known yet; the first request asks again', errorFields(error))
    }
  }

  return {
    async admitCheckIn(submission) {
      if (memoryFull) throw unavailable(FULL, 60)
      if (kvIsLate) return toJournal(submission, null)
      const asked = ask(submission)
      const verdict = await within(asked, admitMs).catch((error: unknown) => {
        if (error instanceof KvFull) throw unavailable(FULL, 60)
        if (!kvIsAway(error)) throw error
        return 'away' as const
      })
      if (verdict === 'away') return toJournal(submission, null)
      if (verdict !== 'late') return verdict
      kvIsLate = true
      return toJournal(submission, asked)
    },
    async admitTrack(submission) {
      if (memoryFull) throw unavailable(FULL, 60)
      const verdict = await within(ask(submission), REQUEST_PATIENCE_MS).catch((error: unknown) => {
        if (error instanceof Refusal || !kvIsAway(error)) throw error
        return 'late' as const
      })
      if (verdict === 'late') throw unavailable(NO_KV)
      return verdict
    },
    journaled: () => journal.size(),
    async start() {
      kv.onReconnect(() => void learnQuietly())
      await learnQuietly()
      watching = setInterval(() => void watch(), WATCH_MS)
      replay.start()
    },
    async stop() {
      clearInterval(watching)
      await replay.stop()
    },
  }
}

/** Asks the kv; one that has no status is primed from the database first, and asked again. */
function createAsk(
  submit: (submission: Submission) => Promise<Verdict>,
  prime: () => Promise<VersionedStatus>,
  learn: (status: VersionedStatus) => void,
): (submission: Submission) => Promise<Verdict> {
  let priming: Promise<VersionedStatus> | null = null
  return async (submission) => {
    let verdict = await submit(submission)
    if (verdict.outcome === 'unknown') {
      priming ??= prime().finally(() => (priming = null))
      learn(await priming)
      verdict = await submit(submission)
    }
    if (verdict.outcome === 'admitted') learn({ status: 'active', version: 0, message: null })
    if (verdict.outcome === 'refused') learn({ status: verdict.status, version: 0, message: verdict.message })
    return verdict
  }
}

/** Resolves to `late` when the promise has not settled in time. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  const timer = Promise.withResolvers<'late'>()
  const handle = setTimeout(() => timer.resolve('late'), ms)
  try {
    return await Promise.race([promise, timer.promise])
  } finally {
    clearTimeout(handle)
  }
}
