/** Brings journaled check-ins to the kv, and adopts the journals of replicas that are gone. */
import {
  type AdmissionRules,
  type Kv,
  kvIsAway,
  partitionOf,
  type Submission,
  type Verdict,
} from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/log.ts'
import type { Journal } from './journal.ts'

const EVERY_MS = 1_000
const ADOPT_EVERY_MS = 60_000
/** Journal entries per round. */
const SLICE = 500

export interface Replay {
  /**
   * Journals a submission whose first call may still be under way: that call's success takes the entry out,
   * anything else leaves it to the replay.
   */
  journal(submission: Submission, asked: Promise<Verdict> | null): Promise<void>
  start(): void
  /** Tries once more, then stops. */
  stop(): Promise<void>
}

/** @param onAnswer called whenever the kv has answered */
export function createReplay(options: {
  readonly kv: Kv
  readonly journal: Journal
  readonly rules: AdmissionRules
  readonly log: Log
  readonly onAnswer: () => void
}): Replay {
  const { kv, journal, rules, log, onAnswer } = options
  const underWay = new Set<string>()
  const timers: Timer[] = []
  let round: Promise<void> | null = null

  const follow = async (id: string, asked: Promise<Verdict>): Promise<void> => {
    try {
      if ((await asked).outcome === 'admitted') journal.remove([id])
    } catch (error) {
      if (!kvIsAway(error)) log.error('a late admission failed', errorFields(error))
    } finally {
      underWay.delete(id)
    }
  }

  const bring = async (): Promise<void> => {
    for (;;) {
      const waiting = journal.oldest(SLICE).filter(({ id }) => !underWay.has(id))
      if (waiting.length === 0) return
      const byPartition = Map.groupBy(waiting, ({ userId }) => partitionOf(userId, kv.partitions))
      for (const [partition, submissions] of byPartition) {
        await kv.restore(partition, submissions, rules)
        journal.remove(submissions.map(({ id }) => id))
        onAnswer()
      }
    }
  }

  const tick = (): Promise<void> => {
    round ??= bring()
      .catch((error: unknown) => {
        if (!kvIsAway(error)) log.error('the journal is not replayed', errorFields(error))
      })
      .finally(() => {
        round = null
      })
    return round
  }

  const adopt = () => {
    const adopted = journal.adopt()
    if (adopted > 0) log.warn('adopted the journal of a replica that is gone', { adopted })
  }

  return {
    async journal(submission, asked) {
      if (asked !== null) underWay.add(submission.id)
      const late = asked?.catch(() => null)
      try {
        await journal.append(submission)
      } catch (error) {
        underWay.delete(submission.id)
        throw error
      }
      if (asked !== null) void late?.then(() => follow(submission.id, asked))
    },
    start() {
      timers.push(
        setInterval(() => void tick(), EVERY_MS),
        setInterval(adopt, ADOPT_EVERY_MS),
      )
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await round
      await tick()
    },
  }
}
