/** A replica's buffer on a store whose failures a test controls. */
import { rm } from 'node:fs/promises'
import { type Buffer, createBuffer } from '#shared/points/buffer.ts'
import { type Journal, openJournal } from '#shared/points/journal/journal.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import { type AdmissionRules, type Kv, isKvUnavailable, type VersionedStatus } from '#shared/stores/kv/kv.ts'
import { createMetrics, type Metrics } from '#shared/runtime/metrics.ts'
import { createLog } from '#shared/runtime/log.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { rules } from '#tests/kv/drivers.ts'

export const ADMIT_MS = 250
/** Phones wait longer; a kv that does not respond would take forever. */
export const IN_TIME_MS = 2_500
export interface Replica extends Buffer, AsyncDisposable {
  readonly journal: Journal
  /** Its log, one JSON line each. */
  readonly lines: string[]
  readonly metrics: Metrics
}

export interface ReplicaOptions {
  readonly rules?: AdmissionRules
  readonly journalMax?: number
  /** The status in the database; null: the database is unavailable as well. */
  readonly status?: VersionedStatus | null
  /** How long the database does not respond. */
  readonly databaseMs?: number
}

/** Starts a buffer with a journal of its own; disposing stops it and removes the journal. */
export async function startReplica(kv: Kv, options: ReplicaOptions = {}): Promise<Replica> {
  const { journalMax = 10_000, databaseMs = 0 } = options
  const { status = { status: 'active', version: 1, message: null } } = options
  const dir = await newDirectory('replica')
  const journal = openJournal(dir, journalMax)
  const lines: string[] = []
  const metrics = createMetrics('tracking')
  const buffer = createBuffer({
    kv,
    journal,
    redo: null,
    counters: { count: () => undefined },
    rules: options.rules ?? rules(),
    admitMs: ADMIT_MS,
    async prime() {
      await Bun.sleep(databaseMs)
      if (status === null) throw new Error('the database is away')
      await kv.setStatus(status).catch((error: unknown) => {
        if (!isKvUnavailable(error)) throw error
      })
      return status
    },
    metrics,
    now: Date.now,
    log: createLog({}, (line) => lines.push(line)),
  })
  await buffer.start()
  return {
    ...buffer,
    journal,
    lines,
    metrics,
    async [Symbol.asyncDispose]() {
      await buffer.stop()
      journal.close()
      await rm(dir, { recursive: true })
    },
  }
}

/** The refusal with which a call ends. */
export async function refusal(call: Promise<unknown>): Promise<Refusal> {
  const error = await rejection(call)
  if (error instanceof Refusal) return error
  throw error
}

/** A call's result and its duration in milliseconds. */
export async function timed<T>(call: Promise<T>): Promise<{ answer: T; ms: number }> {
  const startedAt = performance.now()
  const answer = await call
  return { answer, ms: performance.now() - startedAt }
}
