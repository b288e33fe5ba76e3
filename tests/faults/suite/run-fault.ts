/** One fault under a stream of requests, how long it takes to get over it, and whether the books balance after it. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createHash } from 'node:crypto'
import { until } from '#tests/helpers/wait.ts'
import { healthOf } from '#tests/helpers/test-stack.ts'
import { journaled } from '#tests/helpers/test-stack-real.ts'
import { randomBy } from '#tests/scheduler/walks.ts'
import { type Arena, type Part, PARTS, SERVICES } from './test-system.ts'
import { audit, lostByLedger, missing, unhandled } from './check-balance.ts'
import { Book, json, send } from './recorded-requests.ts'
import type { Fault } from './fault.ts'
import { startOperators } from './operators.ts'
import { startPhones } from './phones.ts'

export interface Timing {
  readonly phones: number
  /** Before the fault, and after its mending, until the phones stop recording. */
  readonly calmMs: number
  /** How long what is broken stays broken. */
  readonly holdMs: number
  readonly freezeMs: number
}

/** What a fault came to: a row of the table. */
export interface Outcome {
  readonly fault: string
  readonly requests: number
  /** Points and check-ins that were answered with success. */
  readonly answered: number
  readonly stored: number
  readonly lost: number
  readonly doubled: number
  /** Check-ins without a time of their own that were stored again when a phone repeated them. */
  readonly repeatedTimeless: number
  /** From the mending until check-ins, profiles and the health report answer; null: not within the bound. */
  readonly servingS: number | null
  /** Until nothing was on its way any more: journals, buffer, events, messages; null: not within the bound. */
  readonly settledS: number | null
  readonly statuses: Readonly<Record<string, number>>
  readonly complaints: readonly string[]
  /** Whether the store's own loss is what this is about. */
  readonly loses: boolean
}

/** Beyond this a recovery needs a hand. */
const BOUND_MS = 150_000
/** A report may be a second old. */
const REPORT_MS = 1_100

/** Runs a fault. @param index its place in the run: names of its pilgrims begin with it */
export async function bout(
  arena: Arena,
  fault: Fault,
  index: number,
  seed: number,
  timing: Timing,
): Promise<Outcome> {
  const book = new Book(`b${String(index).padStart(3, '0')}`)
  const own = seedOf(seed, fault.name)
  const holdMs = fault.group === 'freeze' ? timing.freezeMs : timing.holdMs
  const forMs = 2 * timing.calmMs + holdMs
  const logs = watchLogs(arena)
  const lostBefore = await lostByLedger(arena)
  const { fetch } = arena.world
  const phones = startPhones({ fetch, book, seed: own, count: timing.phones, forMs })
  const operators = startOperators(arena, book, randomBy(own), forMs)
  await Bun.sleep(timing.calmMs)
  await fault.strike(arena, book.name)
  await Bun.sleep(holdMs)
  const mendedMs = performance.now()
  const mending = Promise.resolve(fault.mend(arena)).catch((error: unknown) =>
    book.complain('a part did not start again', String(error)),
  )
  const servingS = await secondsSince(mendedMs, () => isServing(arena, book))
  await mending
  await Bun.sleep(timing.calmMs)
  await Promise.all([phones.finish(BOUND_MS), operators.finish(BOUND_MS)])
  const settledS = await settle(arena, book, fault, mendedMs)
  const findings = await audit(arena, book, fault.deadLetters ?? 0)
  await balance(arena, book, fault, lostBefore, findings.lost.length)
  logs.complain(book)
  await revive(arena, book, fault)
  return {
    fault: fault.name,
    requests: book.requests,
    answered: book.answered,
    stored: findings.stored,
    lost: findings.lost.length,
    doubled: findings.doubled,
    repeatedTimeless: findings.repeatedTimeless,
    servingS,
    settledS,
    statuses: Object.fromEntries(book.statuses),
    complaints: [...book.complaints].map(([kind, example]) => `${kind}: ${example}`),
    loses: fault.loses === true,
  }
}

const seedOf = (seed: number, name: string): number =>
  createHash('sha256').update(`${seed} ${name}`).digest().readUInt32LE()

/** Null when it does not become true within the bound. */
async function secondsSince(sinceMs: number, condition: () => Promise<boolean>): Promise<number | null> {
  try {
    await until(condition, { timeoutMs: BOUND_MS, what: 'recovery', everyMs: 100 })
    return Math.round((performance.now() - sinceMs) / 100) / 10
  } catch {
    return null
  }
}

/** Whether everything answers: the report is all well, a check-in is taken, a profile is read. */
async function isServing(arena: Arena, book: Book): Promise<boolean> {
  const { world } = arena
  if ((await healthOf(world)).status !== 'ok') return false
  const userId = `${book.name}.probe`
  // Sent again it is the same check-in, whoever had taken it before.
  const visit = { user_id: userId, lat: 24, lng: 120.5, timestamp: PROBE_MS }
  const reply = await send(world.fetch, new Book('probe'), '/api/event/checkin', json(visit))
  if (reply.status === 202) book.promise(userId, [`c${PROBE_MS}`])
  // 403: an operator pauses the event just now.
  if (![202, 403, 429].includes(reply.status)) return false
  return (await world.fetch(`/api/event/user/${userId}`)).status < 500
}
const PROBE_MS = Date.now() - 7_200_000

async function settle(arena: Arena, book: Book, fault: Fault, mendedMs: number): Promise<number | null> {
  const running = SERVICES.filter((part) => isRunning(arena, part))
  const isSettled = async () => {
    if (running.includes('tracking-2') && (await journaled(arena.world)) > 0) return false
    if ((await unhandled(arena, book)).length > 0) return false
    if (fault.loses !== true && (await missing(arena, book)).length > 0) return false
    const health = await healthOf(arena.world)
    return (
      health.status === 'ok' && health.buffer_size === 0 && running.every((part) => isRunning(arena, part))
    )
  }
  const settledS = await secondsSince(mendedMs, isSettled)
  if (settledS === null)
    book.complain(
      'not settled',
      `${(await missing(arena, book)).length} missing; ${(await unhandled(arena, book)).join(', ')}; ${JSON.stringify(await healthOf(arena.world).catch(String))}`,
    )
  // One more flush: what was on its way when the report was made.
  await Bun.sleep(REPORT_MS)
  return settledS
}

/** The service's own ledger knows of every loss, and of no other. */
async function balance(arena: Arena, book: Book, fault: Fault, before: number, lost: number): Promise<void> {
  try {
    const booked = (await lostByLedger(arena)) - before
    // What was never answered may be lost as well; its phone sent it again.
    if (fault.loses === true ? booked < lost : booked !== 0)
      book.complain('the ledger', `${booked} are booked as lost, ${lost} are`)
  } catch (error) {
    book.complain('the ledger', String(error))
  }
}

function isRunning(arena: Arena, part: Part): boolean {
  try {
    return arena.part(part).pid > 0
  } catch {
    return false
  }
}

/** Nothing that one fault leaves broken is the next one's business; needing this is a finding. */
async function revive(arena: Arena, book: Book, fault: Fault): Promise<void> {
  if (fault.after !== undefined) await fault.after(arena, book)
  for (const part of PARTS)
    if (!isRunning(arena, part)) {
      book.complain('ended by itself', part)
      await arena.part(part).restart()
    }
}

/** What no log may say. */
const FAULTY = /TypeError|ReferenceError|RangeError|SyntaxError|nobody looked|Internal error/

/** Remembers where each service's log ends; later complains of what came after that. */
function watchLogs(arena: Arena) {
  const path = (part: Part) => join(arena.part(part).dir, 'server.log')
  const ends = new Map(SERVICES.map((part) => [part, statSync(path(part)).size]))
  return {
    complain(book: Book) {
      for (const part of SERVICES) {
        const fresh = readFileSync(path(part)).subarray(ends.get(part)).toString('utf8')
        for (const line of fresh.split('\n')) if (FAULTY.test(line)) book.complain(`the log of ${part}`, line)
      }
    },
  }
}
