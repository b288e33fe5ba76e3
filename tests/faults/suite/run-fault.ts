/** Runs one fault under a stream of requests: measures the recovery and checks that nothing is lost or doubled. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { until } from '#tests/helpers/wait.ts'
import { healthOf } from '#tests/helpers/test-stack.ts'
import { journaled } from '#tests/helpers/test-stack-real.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { type TestSystem, type Part, PARTS, SERVICES } from './test-system.ts'
import { audit, lostByLedger, missing, unhandled } from './check-balance.ts'
import { RecordedRequests, json, send } from './recorded-requests.ts'
import type { Fault } from './fault.ts'
import { startOperators } from './operators.ts'
import { startPhones } from './phones.ts'
import { startTrackerApps } from './trackers.ts'

export interface Timing {
  readonly phones: number
  /** Time before the fault, and time after its repair until the phones stop recording. */
  readonly calmMs: number
  /** Time from the fault to its repair. */
  readonly holdMs: number
  readonly freezeMs: number
}

/** The outcome of a fault: a row of the table. */
export interface Outcome {
  readonly fault: string
  readonly requests: number
  /** Acknowledged points and check-ins. */
  readonly answered: number
  readonly stored: number
  readonly lost: number
  readonly doubled: number
  /** Check-ins without their own time that were stored again when a phone repeated them. */
  readonly repeatedTimeless: number
  /**
   * Seconds from the repair until check-ins, profiles and the health report succeed; null: not before the
   * timeout.
   */
  readonly servingS: number | null
  /** Seconds until journals, buffer, events and messages are empty; null: not before the timeout. */
  readonly settledS: number | null
  readonly statuses: Readonly<Record<string, number>>
  readonly complaints: readonly string[]
}

/** Whether an outcome is as required. */
export const isGood = ({ lost, doubled, complaints, servingS, settledS }: Outcome): boolean =>
  lost === 0 && doubled === 0 && complaints.length === 0 && servingS !== null && settledS !== null

/** Timeout of a recovery. */
const RECOVERY_MS = 150_000
/** Tracker apps beside the phones. */
const TRACKER_APPS = 3
/** A health report may be a second old. */
const REPORT_MS = 1_100

/** Runs a fault. @param index number of the fault in the run, with which its pilgrims' ids begin */
export async function runFault(
  system: TestSystem,
  fault: Fault,
  index: number,
  seed: number,
  timing: Timing,
): Promise<Outcome> {
  const recorded = new RecordedRequests(`b${String(index).padStart(3, '0')}`, fault.mayRefuse)
  const own = seedOf(seed, fault.name)
  const holdMs = fault.group === 'freeze' ? timing.freezeMs : timing.holdMs
  const forMs = 2 * timing.calmMs + holdMs + (fault.strikeMs ?? 0)
  const logs = watchLogs(system)
  await fault.before?.(system)
  const lostBefore = await lostByLedger(system)
  const { fetch } = system.stack
  const trackers = await startTrackerApps(system, recorded, createRandom(own + 1), TRACKER_APPS, forMs)
  const phones = startPhones({ fetch, recorded, seed: own, count: timing.phones, forMs })
  const operators = startOperators(system, recorded, createRandom(own), forMs)
  await Bun.sleep(timing.calmMs)
  await fault.strike(system, recorded.name)
  await Bun.sleep(holdMs)
  const mendedMs = performance.now()
  const mending = Promise.resolve(fault.mend(system)).catch((error: unknown) =>
    recorded.complain('a part did not start again', String(error)),
  )
  const servingS = await secondsSince(mendedMs, () => isServing(system, recorded))
  await mending
  await Bun.sleep(timing.calmMs)
  await Promise.all([phones, trackers, operators].map((one) => one.finish(RECOVERY_MS)))
  const settledS = await acknowledge(system, recorded, mendedMs)
  const findings = await audit(system, recorded, fault.deadLetters ?? 0)
  await balance(system, recorded, fault, lostBefore)
  logs.complain(recorded)
  await revive(system, recorded, fault)
  return {
    fault: fault.name,
    requests: recorded.requests,
    answered: recorded.answered,
    stored: findings.stored,
    lost: findings.lost.length,
    doubled: findings.doubled,
    repeatedTimeless: findings.repeatedTimeless,
    servingS,
    settledS,
    statuses: Object.fromEntries(recorded.statuses),
    complaints: [...recorded.complaints].map(([kind, example]) => `${kind}: ${example}`),
  }
}

const seedOf = (seed: number, name: string): number =>
  createHash('sha256').update(`${seed} ${name}`).digest().readUInt32LE()

/** Null if the condition does not become true before the timeout. */
async function secondsSince(sinceMs: number, condition: () => Promise<boolean>): Promise<number | null> {
  try {
    await until(condition, 'recovery', { timeoutMs: RECOVERY_MS, everyMs: 100 })
    return Math.round((performance.now() - sinceMs) / 100) / 10
  } catch {
    return null
  }
}

/** Whether health is `ok`, a check-in is accepted and a profile is read. */
async function isServing(system: TestSystem, recorded: RecordedRequests): Promise<boolean> {
  const { stack } = system
  if ((await healthOf(stack)).status !== 'ok') return false
  const userId = `${recorded.name}.probe`
  // Repeats of it are duplicates of the same check-in.
  const visit = { user_id: userId, lat: 24, lng: 120.5, timestamp: PROBE_MS }
  const reply = await send(stack.fetch, new RecordedRequests('probe'), '/api/event/checkin', json(visit))
  if (reply.status === 202) recorded.promise(userId, [`c${PROBE_MS}`])
  // 403: the event is paused by an operator.
  if (![202, 403, 429].includes(reply.status)) return false
  return (await stack.fetch(`/api/event/user/${userId}`)).status < 500
}
const PROBE_MS = Date.now() - 7_200_000

async function acknowledge(
  system: TestSystem,
  recorded: RecordedRequests,
  mendedMs: number,
): Promise<number | null> {
  const running = SERVICES.filter((part) => isRunning(system, part))
  const isSettled = async () => {
    if (running.includes('tracking-2') && (await journaled(system.stack)) > 0) return false
    if ((await unhandled(system, recorded)).length > 0) return false
    if ((await missing(system, recorded)).length > 0) return false
    const health = await healthOf(system.stack)
    return (
      health.status === 'ok' && health.buffer_size === 0 && running.every((part) => isRunning(system, part))
    )
  }
  const settledS = await secondsSince(mendedMs, isSettled)
  if (settledS === null)
    recorded.complain(
      'not settled',
      `${(await missing(system, recorded)).length} missing; ${(await unhandled(system, recorded)).join(', ')}; ${JSON.stringify(await healthOf(system.stack).catch(String))}`,
    )
  // One more flush, for points that arrived after the report.
  await Bun.sleep(REPORT_MS)
  return settledS
}

/** Checks that the service's ledger counts no point as lost. */
async function balance(
  system: TestSystem,
  recorded: RecordedRequests,
  fault: Fault,
  before: number,
): Promise<void> {
  try {
    const counted = (await lostByLedger(system)) - before
    if (counted !== 0 && fault.loses !== true)
      recorded.complain('the ledger', `counts ${counted} points as lost`)
  } catch (error) {
    recorded.complain('the ledger', String(error))
  }
}

function isRunning(system: TestSystem, part: Part): boolean {
  try {
    return system.part(part).pid > 0
  } catch {
    return false
  }
}

/** Restarts processes that ended, so that one fault does not affect the next. Each such process is a complaint. */
async function revive(system: TestSystem, recorded: RecordedRequests, fault: Fault): Promise<void> {
  if (fault.after !== undefined) await fault.after(system, recorded)
  for (const part of PARTS)
    if (!isRunning(system, part)) {
      recorded.complain('ended by itself', part)
      await system.part(part).restart()
    }
}

/** Text that no log may contain. */
const FAULTY = /TypeError|ReferenceError|RangeError|SyntaxError|unhandled rejection|Internal error/

/** Notes where each service's log ends; `complain` then checks the lines after that. */
function watchLogs(system: TestSystem) {
  const path = (part: Part) => join(system.part(part).dir, 'server.log')
  const ends = new Map(SERVICES.map((part) => [part, statSync(path(part)).size]))
  return {
    complain(recorded: RecordedRequests) {
      for (const part of SERVICES) {
        const fresh = readFileSync(path(part)).subarray(ends.get(part)).toString('utf8')
        for (const line of fresh.split('\n'))
          if (FAULTY.test(line)) recorded.complain(`the log of ${part}`, line)
      }
    },
  }
}
