/**
 * The GPS buffer as the services use it. Submissions that arrive in one turn of the event loop are admitted in one
 * atomic call per partition. A check-in that the kv does not confirm in time is written to the journal.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import {
  type AdmissionRules,
  isKvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
  type VersionedStatus,
  type KvKeys,
  type KvPoints,
  type KvServer,
  type KvStatus,
} from '#shared/stores/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import type { Count, ProcessCounters } from './ledger/counters.ts'
import {
  admitOrThrow,
  answerWithin,
  type Admit,
  countingAdmission,
  countRefusal,
  countVerdict,
  createAdmission,
  MEMORY_CEILING,
  storeFull,
  storeUnavailable,
} from './admission.ts'
import type { Journal } from './journal/journal.ts'
import type { Redo } from './redo/redo.ts'
import { createOfflineAdmission, type OfflineAdmission } from '#shared/stores/kv/admit-in-memory.ts'
import { createJournalRecovery, type JournalRecovery } from './journal/journal-recovery.ts'

/** For this long after a late answer, check-ins do not wait for the kv. */
const LATE_MS = 1_000
const WATCH_MS = 1_000

interface BufferOptions {
  readonly kv: KvPoints & KvKeys & KvStatus & KvServer
  readonly journal: Journal
  /** Restores to the kv what it loses; null: the kv loses nothing that this process has stored. */
  readonly redo: Redo | null
  /** Counts the points refused here. */
  readonly counters: Pick<ProcessCounters, 'count'>
  readonly rules: AdmissionRules
  /** Timeout of the kv for a check-in, after which it is written to the journal. */
  readonly admitMs: number
  /** Reads the status from the database and writes it to the kv. It does not reject when the kv is unavailable. */
  readonly prime: () => Promise<VersionedStatus>
  readonly now: MachineClock
  readonly log: Log
  readonly metrics: Metrics
}

export function createBuffer(options: BufferOptions) {
  const { kv, journal, redo, counters, rules, prime, now, log } = options
  const offline = createOfflineAdmission(rules, now)
  const recovery = createJournalRecovery({ kv, journal, redo, rules, log })
  const toJournal = createJournalFallback(offline, recovery, counters.count, log)
  let verdicts = 0
  const learn = (status: VersionedStatus | null): void => {
    verdicts++
    offline.learn(status)
  }
  // Also notes an answer that arrives after its submission was journaled.
  const admit = createAdmission(options, prime, learn, redo?.admitted)
  const watch = watchKv(options, offline.learn, () => verdicts)
  let isOpen = true

  const learnFromDatabase = (): Promise<void> =>
    prime().then(offline.learn, (error: unknown) =>
      log.warn('the status is not known yet; the first request reads it again', errorFields(error)),
    )

  return {
    /**
     * Admits a check-in, or points of a tracker app: some of these apps drop a point after a few attempts. Resolves when
     * it is durable: in the kv, or in the journal when the kv is late or down.
     * @throws Refusal 503 when neither can store it, or no status is known
     */
    admitDurably: createJournaledAdmission(options, admit, offline.knows, toJournal, watch.isFull),
    /** Admits a track. @throws Refusal 503 when the kv does not accept it; phones keep their points */
    admitTrack: countingAdmission(counters.count, async (submission) => {
      if (watch.isFull()) throw storeFull()
      return admitOrThrow(admit, submission)
    }),
    /** Number of entries in this replica's journal. */
    journaled: () => journal.size(),
    /** Starts journal recovery and the watch of the kv. */
    async start(): Promise<void> {
      kv.onReconnect(() => {
        if (isOpen) void learnFromDatabase()
      })
      watch.start()
      recovery.start()
      redo?.start()
      await learnFromDatabase()
    },
    async stop(): Promise<void> {
      isOpen = false
      await watch.stop()
      await recovery.stop()
      await redo?.stop()
    },
  }
}

export type Buffer = ReturnType<typeof createBuffer>

/** Admission by the kv, or by the journal when the kv is late or down. */
function createJournaledAdmission(
  { kv, counters, admitMs, metrics }: BufferOptions,
  admit: Admit,
  isStatusKnown: () => boolean,
  journal: ReturnType<typeof createJournalFallback>,
  isFull: () => boolean,
): (submission: Submission) => Promise<Verdict> {
  /** By partition: a late partition must not slow down the others, nor each of its own check-ins. */
  const lateUntilMs = Array.from({ length: kv.partitions }, () => 0)
  const toJournal = async (
    why: 'late' | 'unavailable',
    ...call: Parameters<typeof journal>
  ): Promise<Verdict> => {
    const verdict = await journal(...call)
    if (verdict.outcome === 'admitted' && !verdict.duplicate) metrics.count('event_journaled_total', { why })
    return verdict
  }
  return async (submission) => {
    // Counted here and not by a wrapper: at thousands of requests per second an additional promise is measurable.
    try {
      if (isFull()) throw storeFull()
      const partition = partitionOf(submission.userId, kv.partitions)
      if (isStatusKnown() && performance.now() < lateUntilMs[partition]!)
        return await toJournal('late', submission, null)
      const firstCall = admit(submission)
      const answer = await answerWithin(firstCall, admitMs)
      if (answer === 'unavailable') return await toJournal(answer, submission, null)
      if (answer !== 'late') return countVerdict(counters.count, submission, answer)
      // Without a status no decision is possible here. If the kv has lost it, the call is reading it.
      if (!isStatusKnown())
        return countVerdict(counters.count, submission, await admitOrThrow(() => firstCall, submission))
      lateUntilMs[partition] = performance.now() + LATE_MS
      return await toJournal('late', submission, firstCall)
    } catch (error) {
      throw countRefusal(counters.count, submission, error)
    }
  }
}

/**
 * Admission while the kv is late or unavailable: this replica decides, and the journal stores.
 * @returns a function that resolves when the check-in is in the journal, or refused by this replica. Its second
 *   parameter is the pending admission by the kv, if any
 * @throws Refusal 503 when the journal cannot store it, or no status is known
 */
function createJournalFallback(offline: OfflineAdmission, recovery: JournalRecovery, count: Count, log: Log) {
  /** Check-ins being written to disk, by pilgrim and duplicate key. */
  const writing = new Map<string, Promise<void>>()

  const write = async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<void> => {
    try {
      await recovery.journal(submission, firstCall)
    } catch (error) {
      log.error('writing a check-in to the journal failed', errorFields(error))
      throw unavailable('The check-in cannot be stored just now: please try again.', 10)
    }
  }

  const writeFirst = async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<void> => {
    const key = `${submission.userId} ${submission.duplicateKey}`
    const written = write(submission, firstCall)
    writing.set(key, written)
    try {
      await written
    } catch (error) {
      offline.takeBack(submission)
      throw error
    } finally {
      writing.delete(key)
    }
  }

  /** A duplicate is as durable as the check-in it repeats; its track points are new. */
  const writeDuplicate = async (
    submission: Submission,
    firstCall: Promise<Verdict> | null,
  ): Promise<void> => {
    await writing.get(`${submission.userId} ${submission.duplicateKey}`)
    count('duplicate', 1)
    const entries = submission.entries.slice(1)
    if (entries.length > 0) await write({ ...submission, entries }, firstCall)
  }

  return async (submission: Submission, firstCall: Promise<Verdict> | null): Promise<Verdict> => {
    const verdict = offline.decide(submission)
    if (verdict.outcome === 'unknown') throw storeUnavailable()
    if (verdict.outcome === 'admitted')
      await (verdict.duplicate ? writeDuplicate(submission, firstCall) : writeFirst(submission, firstCall))
    return countVerdict(count, submission, verdict)
  }
}

/**
 * Reads memory use and status of the kv once a second. A replica must know of a pause when the kv becomes unavailable,
 * even if it has had no request since. While the kv is unavailable, the status comes from the database.
 */
function watchKv(
  { kv, prime, log }: BufferOptions,
  learn: OfflineAdmission['learn'],
  verdicts: () => number,
) {
  let full = false
  const read = async (): Promise<void> => {
    const before = verdicts()
    try {
      const [use, status] = await Promise.all([kv.memoryUse(), kv.status()])
      full = use >= MEMORY_CEILING
      // A verdict that arrived meanwhile is newer and may be a pause.
      if (status !== null && verdicts() === before) learn(status)
    } catch (error) {
      if (!isKvUnavailable(error))
        log.error('reading memory use and status of the kv failed', errorFields(error))
      // If the database is unavailable as well, the last known status stays valid.
      await prime().then(learn, () => undefined)
    }
  }
  const reading = repeated(log, 'reading memory use and status of the kv failed', WATCH_MS, read)
  return { isFull: () => full, start: () => reading.start(false), stop: reading.stop }
}
