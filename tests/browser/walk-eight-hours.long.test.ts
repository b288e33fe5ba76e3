/**
 * Eight hours on foot in simulated time, with all kinds of faults in random order (`EIGHT_HOURS_SEED`), in
 * one to three windows, and another walk taken over halfway. The service has each pilgrim's kilometres and
 * check-ins as walked, except for the gaps in the app's log. `EIGHT_HOURS_LAPS=0.5` walks one hour.
 */
import { expect, test } from 'bun:test'
import { post } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { look } from './phone-watch.ts'
import { type Day, EVENTS, GOOD_M, hoursAgo, WALK, walkAndCompare, type WalkingPhone } from './two-hours.ts'
import { firstMinute, userIdOf, walkApp, keptOn } from './walk-harness.ts'
import { breakable, closeConnections, fillUp, setFault } from './phone-storage.ts'

const SEED = Number(process.env.EIGHT_HOURS_SEED ?? 1)
/** There and back, twice. */
const LAPS = Number(process.env.EIGHT_HOURS_LAPS ?? 4)
const TEST_MS = 900_000

const SETTINGS = {
  EVENT_NAME: 'Eight hours on foot',
  EVENT_LIMIT_CHECKIN: '1000',
  EVENT_LIMIT_SYNC: '1000',
  EVENT_LIMIT_USER_WRITE: '1000',
}

/** A fault that lasts for some positions. */
interface Fault {
  readonly begin?: (phone: WalkingPhone) => Promise<unknown>
  readonly end?: (phone: WalkingPhone) => Promise<unknown>
  readonly isDead?: boolean
  /** Metres; null: the app gets no position, or cannot store it. */
  readonly accuracy?: number | null
}

const API = '**/api/event/**'
const lookAgain = async ({ page }: WalkingPhone): Promise<void> => {
  await look(page, 'hidden')
  await look(page, 'visible')
}

const FAULTS: Readonly<Record<string, Fault>> = {
  deadZone: { isDead: true },
  signInPage: {
    begin: ({ context }) =>
      context.route(API, (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in' })),
    end: ({ context }) => context.unroute(API),
  },
  paused: { begin: EVENTS.pause, end: EVENTS.resume },
  trackingAway: { begin: EVENTS.killTracking, end: EVENTS.restartTracking },
  reload: { begin: EVENTS.reload },
  anotherWindow: { begin: EVENTS.anotherWindow },
  crash: { begin: EVENTS.crash },
  release: { begin: EVENTS.release },
  databaseClosed: { begin: ({ page }) => closeConnections(page, false) },
  databaseRefuses: {
    async begin({ page }) {
      await setFault(page, 'refused')
      await closeConnections(page, true)
    },
    end: ({ page }) => setFault(page, null),
  },
  noRoom: {
    begin: ({ page }) => fillUp(page, true),
    end: ({ page }) => fillUp(page, false),
    accuracy: null,
  },
  rough: { accuracy: 3_000 },
  silent: { begin: ({ context }) => context.setGeolocation(null), accuracy: null },
  hidden: {
    begin: ({ page }) => look(page, 'hidden'),
    end: ({ page }) => look(page, 'visible'),
    accuracy: null,
  },
  notAllowed: {
    begin: ({ context }) => context.clearPermissions(),
    async end(phone) {
      await phone.context.grantPermissions(['geolocation'])
      await lookAgain(phone)
    },
    accuracy: null,
  },
  consentTakenBack: {
    async begin({ app, page, userId }) {
      const version = (await keptOn<{ privacyVersion: string }>(page, 'person'))!.privacyVersion
      const { status } = await post(app.stack, 'privacy', { user_id: userId, agreed: false, version })
      expect(status).toBe(200)
    },
    async end(phone) {
      const { page } = phone
      // A profile read may have been too slow for a clock that runs ahead.
      await lookAgain(phone)
      await page.getByRole('button', { name: 'I agree again' }).click()
      await page.getByRole('button', { name: 'Start recording' }).click()
    },
    accuracy: null,
  },
}

/** The walk out, back, out … */
function laps(): Day['positions'] {
  const lapS = WALK.at(-1)![2] + 31
  const back = WALK.toReversed().map(([lat, lng, s]) => [lat, lng, WALK.at(-1)![2] - s] as const)
  return Array.from({ length: Math.ceil(LAPS) }, (_, n) => (n % 2 === 0 ? WALK : back))
    .flatMap((lap, n) => lap.map(([lat, lng, s]) => [lat, lng, s + n * lapS] as const))
    .slice(0, LAPS * WALK.length)
}

interface Case {
  readonly windows: number
  readonly isTakenOver?: boolean
}

/** Every kind of fault in each round, in a different order, without overlaps. */
function dayOf(
  seed: number,
  { windows, isTakenOver = false }: Case,
): { readonly day: Day; readonly names: readonly string[] } {
  const random = createRandom(seed)
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
  const positions = laps()
  const faults = new Map<number, Fault>()
  const begins = new Map<number, Fault>()
  const ends = new Map<number, Fault>()
  const names: string[] = []
  let waiting: string[] = []
  let takenOverAt: number | undefined
  for (let i = 10; ;) {
    if (waiting.length === 0) waiting = Object.keys(FAULTS).sort((a, b) => order(a) - order(b))
    const name = waiting.pop()!
    const fault = FAULTS[name]!
    const lasts = between(6, 14)
    if (i + lasts + 10 > positions.length) break
    names.push(`${i}: ${name}`)
    begins.set(i, fault)
    ends.set(i + lasts, fault)
    for (let at = i; at < i + lasts; at++) faults.set(at, fault)
    // Recording restarts, perhaps at rest: the phone is asked for a position only after some time.
    if (name === 'consentTakenBack') faults.set(i + lasts, fault)
    // Between two faults.
    if (isTakenOver && i > positions.length / 2) takenOverAt ??= i + lasts + 3
    i += lasts + between(5, 12)
  }
  const accuracy = (i: number): number | null => {
    const given = faults.get(i)?.accuracy
    return given === undefined ? GOOD_M : given
  }
  const checkIns = new Set(positions.keys().filter((i) => i % 9 === 4 && accuracy(i) === GOOD_M))
  const day: Day = {
    positions,
    startMs: hoursAgo(10),
    windows,
    ...(takenOverAt === undefined ? {} : { takenOverAt }),
    checkIns,
    accuracy,
    isDead: (i) => faults.get(i)?.isDead === true,
    async happen(i, phone) {
      await ends.get(i)?.end?.(phone)
      await begins.get(i)?.begin?.(phone)
    },
  }
  return { day, names }

  function order(name: string): number {
    return new Bun.CryptoHasher('sha256').update(`${seed} ${names.length} ${name}`).digest().readUInt32LE()
  }
}

describeOnServers('eight hours', () => {
  const app = walkApp(SETTINGS)

  test.each([
    ['one window', { windows: 1 }],
    ['two windows', { windows: 2 }],
    ['three windows', { windows: 3 }],
    ['two windows and a walk that is taken over', { windows: 2, isTakenOver: true }],
  ] as const)(
    'of walking with faults of every kind end with what was walked, without what the log of gaps names: %s',
    async (_, given) => {
      const { day, names } = dayOf(SEED, given)
      console.log(`seed ${SEED}: ${names.join(', ')}`)
      const parts = await walkAndCompare(
        app,
        {
          async begin(page) {
            await firstMinute(page, 'Walker')
            return userIdOf(page)
          },
          prepare: async (context) => void (await breakable(context)),
          proof: async () => ({}),
        },
        day,
      )
      // The log's gaps are only times without an exact position, or without free space.
      const timesMs = day.positions.map(([, , s]) => day.startMs + 6_000 + s * 1_000)
      const gaps = parts.flatMap((part) => part.gaps)
      const without = timesMs.filter((_, i) => day.accuracy(i) !== GOOD_M)
      const invented = gaps.filter(({ from, to }) => !without.some((t) => t >= from && t <= to))
      expect(invented).toEqual([])
      const causes = Map.groupBy(gaps, ({ cause }) => cause)
      const lost = [...causes].map(([cause, those]) => `${those.length} × ${cause}`)
      expect(parts).toHaveLength('isTakenOver' in given ? 2 : 1)
      const fixes = parts.reduce((sum, part) => sum + part.fixes.length, 0)
      console.log(`${fixes} positions, ${day.checkIns.size} check-ins; gaps: ${lost.join(', ')}`)
    },
    TEST_MS,
  )
})
