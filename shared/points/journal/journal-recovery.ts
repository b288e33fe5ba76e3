/** Moves journaled check-ins to the kv, and adopts the journals of replicas that have ended. */
import {
  type AdmissionRules,
  isKvUnavailable,
  partitionOf,
  type Submission,
  type Verdict,
  type KvPoints,
  type KvServer,
} from '#shared/stores/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'
import { repeated } from '#shared/stores/repeated-work.ts'
import { MEMORY_CEILING } from '../admission.ts'
import { createJournalExport } from './journal-export.ts'
import type { Journal } from './journal.ts'
import type { Redo } from '../redo/redo.ts'

const EVERY_MS = 1_000
const ADOPT_EVERY_MS = 60_000
/** Maximum number of journal entries per page; the journal also bounds their bytes. */
const PAGE = 500
/** Maximum pages per round: the entries of an unavailable partition must not be read endlessly. */
const PAGES_A_ROUND = 20

interface JournalRecoveryOptions {
  readonly kv: KvPoints & KvServer
  readonly journal: Journal
  readonly redo: Pick<Redo, 'restored'> | null
  readonly rules: AdmissionRules
  readonly log: Log
}

export function createJournalRecovery(options: JournalRecoveryOptions) {
  const { journal, log } = options
  const firstCalls = createFirstCalls(journal, log)
  const recover = createRecovery(options, firstCalls.underWay)
  const recovery = repeated(log, 'journal recovery failed', EVERY_MS, recover)
  const exportJournal = createJournalExport(journal, log)
  const adoption = repeated(log, 'adopting journals failed', ADOPT_EVERY_MS, () => adopt(journal, log))
  let exporting: Timer | undefined

  return {
    journal: firstCalls.journal,
    /** Adopts abandoned journals, then regularly recovers entries and adopts journals. */
    start(): void {
      adoption.start()
      recovery.start(false)
      exporting = setInterval(() => void exportJournal(), EVERY_MS)
    },
    /** Tries to recover once more, then stops. */
    async stop(): Promise<void> {
      clearInterval(exporting)
      // It ends when the journal is closed.
      void adoption.stop()
      firstCalls.stop()
      await recovery.stop()
      await recovery.run()
    },
  }
}

export type JournalRecovery = ReturnType<typeof createJournalRecovery>

/** Follows admissions that were sent to the kv before their submission was journaled. */
function createFirstCalls(journal: Journal, log: Log) {
  const underWay = new Set<string>()
  let stopped = false

  const follow = async (id: string, firstCall: Promise<Verdict>): Promise<void> => {
    try {
      // After a stop the next owner recovers the entry; the kv drops known points.
      if ((await firstCall).outcome === 'admitted' && !stopped) journal.remove([id])
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('a late admission failed', errorFields(error))
    } finally {
      underWay.delete(id)
    }
  }

  return {
    underWay: (id: string) => underWay.has(id),
    /**
     * Journals a submission. Resolves when it is on disk.
     * @param firstCall the admission that is still under way, if there is one: its success removes the entry; after any
     * other end, recovery moves the entry to the kv
     * @throws JournalFull; or SQLite's error for a full disk
     */
    async journal(submission: Submission, firstCall: Promise<Verdict> | null): Promise<void> {
      if (firstCall === null) return journal.append(submission)
      underWay.add(submission.id)
      try {
        await journal.append(submission)
      } catch (error) {
        underWay.delete(submission.id)
        throw error
      }
      void follow(submission.id, firstCall)
    },
    stop() {
      stopped = true
      underWay.clear()
    },
  }
}

/**
 * Moves entries to the kv, a few pages per round. Each round continues where the last one ended, so that the entries
 * of an unavailable partition do not delay those of the others.
 */
function createRecovery(
  { kv, journal, redo, rules, log }: JournalRecoveryOptions,
  underWay: (id: string) => boolean,
): () => Promise<void> {
  let place = 0

  const isFull = async (): Promise<boolean> => {
    try {
      return (await kv.memoryUse()) >= MEMORY_CEILING
    } catch (error) {
      if (!isKvUnavailable(error)) throw error
      // In a Cluster, continue with the partitions that can be reached.
      return false
    }
  }

  /** A submission that the kv cannot accept stays in the journal, where the ledger counts it. */
  const restore = async (
    partition: number,
    submissions: readonly Submission[],
    unavailable: Set<number>,
  ): Promise<void> => {
    try {
      await kv.restore(partition, submissions, rules)
    } catch (error) {
      if (isKvUnavailable(error)) unavailable.add(partition)
      else if (submissions.length === 1)
        log.error('a journaled check-in could not be recovered; it stays in the journal', errorFields(error))
      else
        for (const submission of submissions)
          if (!unavailable.has(partition)) await restore(partition, [submission], unavailable)
      return
    }
    redo?.restored(submissions)
    journal.remove(submissions.map(({ id }) => id))
  }

  return async () => {
    const unavailable = new Set<number>()
    for (let page = 0; page < PAGES_A_ROUND && unavailable.size < kv.partitions; page++) {
      // The rest of the kv's memory is reserved for the flush, which frees space.
      if (journal.size() === 0 || (await isFull())) return
      const entries = journal.after(place, PAGE)
      place = entries.at(-1)?.place ?? 0
      const due = entries.map(({ submission }) => submission).filter(({ id }) => !underWay(id))
      const byPartition = Map.groupBy(due, ({ userId }) => partitionOf(userId, kv.partitions))
      const reachable = [...byPartition].filter(([partition]) => !unavailable.has(partition))
      await Promise.all(
        reachable.map(([partition, submissions]) => restore(partition, submissions, unavailable)),
      )
      if (place === 0) return
    }
  }
}

/** Adopts abandoned journals. */
async function adopt(journal: Journal, log: Log): Promise<void> {
  const { entries, faults } = await journal.adopt()
  if (entries > 0) log.warn('adopted the journal of a replica that has ended', { entries })
  for (const fault of faults) log.error(fault.message, errorFields(fault.cause))
}
