/**
 * The GPS buffer as the services see it: what arrives in one turn of the event loop is admitted in one
 * atomic call per partition, and a check-in that the kv does not confirm in time goes to the journal.
 */
import {
  type AdmissionRules,
  type Kv,
  isKvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
  type VersionedStatus,
} from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { countRefusal, countVerdict, countingAdmission } from '#shared/ledger/counted-admission.ts'
import type { Tally } from '#shared/ledger/process-counters.ts'
import { admitOrRefuse, answerWithin, createAdmitWithTimeout, storeFull } from './admit/admit-with-timeout.ts'
import type { Journal } from './journal/journal.ts'
import { createJournalFallback } from './journal/journal-fallback.ts'
import { createOfflineAdmission, type OfflineAdmission } from './journal/offline-admission.ts'
import { createJournalRecovery } from './journal/journal-recovery.ts'

/** Above this share of its memory the kv takes no more points, so that it never has to refuse a flush. */
const MEMORY_CEILING = 0.9
/** After a late answer the next check-ins do not wait for the kv again, for this long. */
const LATE_MS = 1_000
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
  /** Counts what is turned away here. */
  readonly tally: Pick<Tally, 'count'>
  readonly rules: AdmissionRules
  /** How long a check-in waits for the kv before it goes to the journal. */
  readonly admitMs: number
  /** Reads the status from the database and brings it to the kv; a kv that is away does not fail it. */
  readonly prime: () => Promise<VersionedStatus>
  readonly now: () => number
  readonly log: Log
}

export function createBuffer(options: BufferOptions): Buffer {
  const { kv, journal, tally, rules, admitMs, prime, now, log } = options
  const own = createOfflineAdmission(rules, now)
  const replay = createJournalRecovery({ kv, journal, rules, log })
  const toJournal = createJournalFallback(own, replay, tally.count, log)
  const ask = createAdmitWithTimeout(kv, rules, prime, own.learn)
  const watch = watchKv(options, own.learn)
  const late = rememberLateness(kv.partitions)
  let isOpen = true

  const learn = (): Promise<void> =>
    prime().then(own.learn, (error: unknown) =>
      log.warn('the status is not known yet; the first request asks again', errorFields(error)),
    )

  return {
    async admitCheckIn(submission) {
      // Counted here and not around it: a promise more is felt where thousands come a second.
      try {
        if (watch.isFull()) throw storeFull()
        const partition = partitionOf(submission.userId, kv.partitions)
        if (late.isLate(partition)) return await toJournal(submission, null)
        const asked = ask(submission)
        const answer = await answerWithin(asked, admitMs)
        if (answer === 'away') return await toJournal(submission, null)
        if (answer !== 'late') return countVerdict(tally.count, submission, answer)
        late.remember(partition)
        return await toJournal(submission, asked)
      } catch (error) {
        throw countRefusal(tally.count, submission, error)
      }
    },
    admitTrack: countingAdmission(tally.count, async (submission) => {
      if (watch.isFull()) throw storeFull()
      return admitOrRefuse(ask, submission)
    }),
    journaled: () => journal.size(),
    async start() {
      kv.onReconnect(() => {
        if (isOpen) void learn()
      })
      watch.start()
      replay.start()
      await learn()
    },
    async stop() {
      isOpen = false
      await watch.stop()
      await replay.stop()
    },
  }
}

/** A partition whose node is late must not slow down the others, nor every check-in of its own. */
function rememberLateness(partitions: number) {
  const untilMs = Array.from({ length: partitions }, () => 0)
  return {
    isLate: (partition: number) => performance.now() < untilMs[partition]!,
    remember(partition: number) {
      untilMs[partition] = performance.now() + LATE_MS
    },
  }
}

/**
 * Looks at the kv once a second: how full it is, and whether the event is paused. A replica that no request has
 * told of a pause must know of it when the kv is gone; then the database tells.
 */
function watchKv({ kv, prime, log }: BufferOptions, learn: OfflineAdmission['learn']) {
  let full = false
  let timer: Timer | undefined
  let looking: Promise<void> | null = null
  const look = async (): Promise<void> => {
    try {
      const [use, status] = await Promise.all([kv.memoryUse(), kv.status()])
      full = use >= MEMORY_CEILING
      if (status !== null) learn(status)
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('the kv is not watched', errorFields(error))
      // Where neither tells, what is known goes on counting.
      await prime().then(learn, () => undefined)
    }
  }
  return {
    isFull: () => full,
    start() {
      timer = setInterval(() => {
        looking ??= look().finally(() => (looking = null))
      }, WATCH_MS)
    },
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
