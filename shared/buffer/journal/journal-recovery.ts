/** Brings journaled check-ins to the kv, and adopts the journals of replicas that are gone. */
import {
  type AdmissionRules,
  type Kv,
  isKvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
} from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { createJournalExport } from './journal-export.ts'
import type { Journal } from './journal.ts'

const EVERY_MS = 1_000
const ADOPT_EVERY_MS = 60_000
/** Journal entries that are brought at once. */
const PAGE = 500
/** Pages a round: what waits for a partition that is away must not be read for ever. */
const PAGES_A_ROUND = 20

export interface Replay {
  /**
   * Journals a submission whose first call may still be under way: that call's success takes the entry out,
   * anything else leaves it to the replay. Resolves when the submission is on disk.
   * @throws JournalFull; or SQLite's error for a full disk
   */
  journal(submission: Submission, asked: Promise<Verdict> | null): Promise<void>
  /** Adopts, and goes on bringing and adopting. */
  start(): void
  /** Tries once more, then stops. */
  stop(): Promise<void>
}

export interface JournalRecoveryOptions {
  readonly kv: Kv
  readonly journal: Journal
  readonly rules: AdmissionRules
  readonly log: Log
}

export function createJournalRecovery(options: JournalRecoveryOptions): Replay {
  const { journal, log } = options
  const firstCalls = createFirstCalls(journal, log)
  const bring = createBringing(options, firstCalls.underWay)
  const handOver = createJournalExport(journal, log)
  const timers: Timer[] = []
  let round: Promise<void> | null = null

  const tick = (): Promise<void> => {
    round ??= bring()
      .catch((error: unknown) => log.error('the journal is not replayed', errorFields(error)))
      .finally(() => (round = null))
    return round
  }

  return {
    journal: firstCalls.journal,
    start() {
      adopt(journal, log)
      timers.push(
        setInterval(() => void tick(), EVERY_MS),
        setInterval(() => void handOver(), EVERY_MS),
        setInterval(() => adopt(journal, log), ADOPT_EVERY_MS),
      )
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      firstCalls.stop()
      await round
      await tick()
    },
  }
}

/** Follows what was asked of the kv before it was journaled. */
function createFirstCalls(journal: Journal, log: Log) {
  const underWay = new Set<string>()
  let stopped = false

  const follow = async (id: string, asked: Promise<Verdict>): Promise<void> => {
    try {
      // After a stop the entry is the next owner's; the kv drops what it knows.
      if ((await asked).outcome === 'admitted' && !stopped) journal.remove([id])
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('a late admission failed', errorFields(error))
    } finally {
      underWay.delete(id)
    }
  }

  return {
    underWay: (id: string) => underWay.has(id),
    async journal(submission: Submission, asked: Promise<Verdict> | null): Promise<void> {
      if (asked === null) return journal.append(submission)
      underWay.add(submission.id)
      try {
        await journal.append(submission)
      } catch (error) {
        underWay.delete(submission.id)
        throw error
      }
      void follow(submission.id, asked)
    },
    stop() {
      stopped = true
      underWay.clear()
    },
  }
}

/**
 * Brings what waits, a few pages a round and each round where the last one ended, so that the entries of a
 * partition that is away do not keep those of the others.
 */
function createBringing(
  { kv, journal, rules }: JournalRecoveryOptions,
  underWay: (id: string) => boolean,
): () => Promise<void> {
  let place = 0

  const restore = async (partition: number, submissions: readonly Submission[], away: Set<number>) => {
    try {
      await kv.restore(partition, submissions, rules)
    } catch (error) {
      if (!isKvUnavailable(error)) throw error
      away.add(partition)
      return
    }
    journal.remove(submissions.map(({ id }) => id))
  }

  return async () => {
    const away = new Set<number>()
    for (let page = 0; page < PAGES_A_ROUND && away.size < kv.partitions; page++) {
      const waiting = journal.after(place, PAGE)
      place = waiting.length < PAGE ? 0 : waiting.at(-1)!.place
      const mine = waiting.map(({ submission }) => submission).filter(({ id }) => !underWay(id))
      const byPartition = Map.groupBy(mine, ({ userId }) => partitionOf(userId, kv.partitions))
      const reachable = [...byPartition].filter(([partition]) => !away.has(partition))
      await Promise.all(reachable.map(([partition, submissions]) => restore(partition, submissions, away)))
      if (place === 0) return
    }
  }
}

function adopt(journal: Journal, log: Log): void {
  const { entries, faults } = journal.adopt()
  if (entries > 0) log.warn('adopted the journal of a replica that is gone', { entries })
  for (const fault of faults) log.error(fault.message, errorFields(fault.cause))
}
