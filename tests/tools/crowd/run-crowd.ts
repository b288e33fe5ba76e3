/** Sends the crowd's actions when they are due. */
import { setImmediate as immediately } from 'node:timers/promises'
import { createClient, type Fetch } from '#shared/client/index.ts'
import type { Act } from './acts.ts'
import { deliver } from './deliver.ts'
import type { Crowd } from './crowd.ts'
import { createLineDeliveries } from './line-deliveries.ts'
import { randomOf } from './person.ts'
import { pause, Phone } from './phone.ts'
import type { Tally } from './tally.ts'
import { dueMs, type Timetable } from './timetable.ts'
import { createTurns, type Turns } from './turns.ts'

export interface RunOptions {
  readonly crowd: Crowd
  readonly timetable: Timetable
  readonly baseUrl: string
  readonly fetch: Fetch
  readonly lineSecret: string | null
  readonly tally: Tally
  /** Maximum number of points to measure. */
  readonly maxPoints: number
  /** Skips everything but check-ins and tracks. */
  readonly pointsOnly: boolean
  /** Resolves when the service can accept points; absent: always. */
  readonly ready?: (() => Promise<void>) | undefined
  readonly signal: AbortSignal
  /** Called with the simulated time, seconds since the departure, as it passes. */
  readonly passed: (atS: number) => void
}

/** Concurrent requests: with points, and others. */
const REQUESTS = { points: 64, others: 8 }
/** While more phones than this wait for their turn, the simulation waits too. */
const WAITING = 128
/** A phone with this many points sends them as soon as it has a network. */
const HOLDS = 400
/** Maximum number of points on all phones: beyond it the service cannot keep up, so the simulation waits. */
const HELD_MAX = { base: 300_000, perPilgrim: 200 }
const LOOK_AGAIN_MS = 50
const ACTS_AT_ONCE = 2_000

const POINTS = new Set<Act['deed']['kind']>(['point', 'check-in', 'network', 'sync'])

/** Runs the crowd to its end, or until the signal aborts. Resolves when everything possible is sent. */
export async function runCrowd(options: RunOptions): Promise<void> {
  const { crowd, timetable, tally, signal } = options
  const [turns, callTurns] = [createTurns(REQUESTS.points, options.ready), createTurns(REQUESTS.others)]
  const phones = createPhones(options, { turns, callTurns })
  const line = createLineDeliveries({ ...options, secret: options.lineSecret })
  const sending = new Set<Promise<void>>()
  const send = (phone: Phone): void => {
    const ended: Promise<void> = phone.send().finally(() => sending.delete(ended))
    sending.add(ended)
  }
  const heldMax = HELD_MAX.base + HELD_MAX.perPilgrim * crowd.people.length
  const beganMs = Date.now()
  let isHistory = timetable.fromS > 0
  let acts = 0
  for (const act of crowd.acts()) {
    // Days of history are due at once: yield, so that the status line and Ctrl-C still work.
    if (++acts % ACTS_AT_ONCE === 0) await immediately()
    if (options.pointsOnly && !POINTS.has(act.deed.kind)) continue
    if (isHistory && !isTold(act, crowd)) continue
    if (signal.aborted || tally.recorded >= options.maxPoints) break
    if (isHistory && act.atS > timetable.fromS) {
      // Phones that were offline for days are online now. Pilgrims who joined last have the fewest points:
      // they go first.
      isHistory = false
      for (const phone of [...phones.values()].reverse()) if (phone.isOnline) send(phone)
    }
    await until(dueMs(timetable, act.atS, beganMs), signal)
    const phone = phones.of(act.who)
    deliver(act, crowd.people[act.who]!, phone, tally, line)
    if (phone.isOnline && sendsAt(act, isHistory, phone)) send(phone)
    while (turns.waiting > WAITING && !signal.aborted) await turns.ended()
    while (heldOf(tally) > heldMax && !signal.aborted) await pause(LOOK_AGAIN_MS, signal)
    options.passed(act.atS)
  }
  for (const phone of phones.values()) send(phone)
  await Promise.all(sending)
  await line.done()
}

/** The phones, each created at its pilgrim's first action. */
function createPhones(
  { crowd, timetable, baseUrl, fetch, tally, signal }: RunOptions,
  lanes: { readonly turns: Turns; readonly callTurns: Turns },
) {
  const phones = new Map<number, Phone>()
  const { departureMs } = timetable
  const shared = createClient({ baseUrl, fetch })
  const clientOf = (userId: string) => createClient({ baseUrl, fetch, identity: { userId } })
  return {
    values: () => phones.values(),
    of(who: number): Phone {
      const known = phones.get(who)
      if (known !== undefined) return known
      const [person, random] = [crowd.people[who]!, randomOf(-1, who)]
      const phone = new Phone({
        person,
        shared,
        clientOf,
        departureMs,
        tally,
        ...lanes,
        random,
        signal,
        now: Date.now,
      })
      phones.set(who, phone)
      return phone
    },
  }
}

/** Number of points on the phones. */
const heldOf = ({ recorded, points, rejected }: Tally): number =>
  recorded - points - [...rejected.values()].reduce((sum, count) => sum + count, 0)

/**
 * Whether the history includes this action: in a large crowd only some pilgrims do more than set their name.
 */
const isTold = ({ who, deed }: Act, { thinner }: Crowd): boolean =>
  POINTS.has(deed.kind) || deed.kind === 'profile' || who % thinner < 1

/** Whether a phone sends now: at a sync, when the network is back, and at once after a deliberate action. */
function sendsAt({ deed }: Act, isHistory: boolean, phone: Phone): boolean {
  return phone.held >= HOLDS || (!isHistory && deed.kind !== 'point')
}

async function until(ms: number, signal: AbortSignal): Promise<void> {
  const leftMs = ms - Date.now()
  if (leftMs > 5) await pause(leftMs, signal)
}
