/**
 * An attacker who knows a claim's id, the map cell in which its pilgrim sleeps, and when the phone reports.
 * It writes for the pilgrim, reads public data, and tracks all places consistent with the responses. With the
 * measures of `core/rules/claim-measures.ts` a day is not enough to locate the pilgrim within a hundred
 * metres; without any one of them it is.
 */
import { expect, test } from 'bun:test'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { readEventTotals } from '#services/tracking/map/map-snapshots.ts'
import { flush } from '#services/scheduler/flush/flush.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { profileEndpoint, userSyncEndpoint } from '#shared/contracts/profile.ts'
import { CLAIM_MEASURES, walkedMm } from '#shared/core/rules/claim-measures.ts'
import { KG_PER_KM } from '#shared/core/rules/carbon.ts'
import { distanceMm, METRES_PER_DEGREE, type Place } from '#shared/core/rules/geo.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createLog } from '#shared/runtime/log.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { createRandom, type Random } from '#tests/helpers/random.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** Report interval of a phone at rest. */
const REPORT_MS = 10 * MINUTE_MS
/** The night before, the walk, and the attack, which ends before the next midnight. */
const ATTACK_MS = 23 * HOUR_MS
/** Reports between which a stranger inserts places at once. */
const REPORTS = 120
const CROWD = 5
const VICTIM = 'U0123456789abcdef0123456789abcdef'
const HOME: Place = { lat: 24.32162, lng: 120.60153 }
/** The attacker starts with the widest cell of a crowd. */
const AREA_M = 1_400
const STEP_M = 25
const FOUND_M = 100
const NOISE_M = 4

const moved = ({ lat, lng }: Place, northM: number, eastM: number): Place => ({
  lat: lat + northM / METRES_PER_DEGREE,
  lng: lng + eastM / (METRES_PER_DEGREE * Math.cos((lat * Math.PI) / 180)),
})

/** Null: at home. */
interface Stay {
  readonly at: Place | null
  readonly t: number
}

/**
 * Places consistent with all responses so far, each with the sums that the walk had before the attack (mm).
 */
class Suspects {
  readonly #places: Place[] = []
  /** Growth of the walk if the pilgrim is there, as shown to others and exactly (mm). */
  readonly #shown: number[]
  readonly #exact: number[]
  readonly #bounds = new Map<string, { readonly low: Float64Array; readonly high: Float64Array }>()
  readonly #gone: Uint8Array
  #last: Stay
  #homeLegs = 1

  constructor(centre: Place, fromMs: number) {
    for (let north = -AREA_M / 2; north <= AREA_M / 2; north += STEP_M)
      for (let east = -AREA_M / 2; east <= AREA_M / 2; east += STEP_M)
        this.#places.push(moved(centre, north, east))
    this.#gone = new Uint8Array(this.#places.length)
    this.#shown = this.#places.map(() => 0)
    this.#exact = this.#places.map(() => 0)
    this.#last = { at: null, t: fromMs }
  }

  /** The walk continues to a place. */
  go(to: Stay): void {
    if (this.#last.at !== null || to.at !== null) this.#add(this.#last, to)
    this.#last = to
  }

  /** Inserts a place between two stays at home. */
  insert(at: Place, elapsedMs: number): void {
    this.#add({ at: null, t: 0 }, { at, t: elapsedMs })
    this.#add({ at, t: 0 }, { at: null, t: elapsedMs })
  }

  #add(from: Stay, to: Stay): void {
    if (from.at === null || to.at === null) this.#homeLegs++
    this.#places.forEach((home, i) => {
      const mm = distanceMm(from.at ?? home, to.at ?? home)
      if (mm < 10_000) return
      this.#exact[i]! += mm
      this.#shown[i]! += walkedMm(mm, to.t - from.t)
    })
  }

  /** A response says that a sum is at least `low` and below `high` (mm). */
  hear(sum: string, [low, high]: readonly [number, number], isExact = false): void {
    const ways = isExact ? this.#exact : this.#shown
    const bounds = this.#bounds.getOrInsertComputed(sum, () => ({
      low: new Float64Array(this.#places.length).fill(-Infinity),
      high: new Float64Array(this.#places.length).fill(Infinity),
    }))
    // Errors of the grid and of the positions add up as the ways go in all directions.
    const error = 1_000 * 3 * Math.sqrt(this.#homeLegs) * (NOISE_M + STEP_M / 2)
    this.#places.forEach((_, i) => {
      bounds.low[i] = Math.max(bounds.low[i]!, low - ways[i]! - error)
      bounds.high[i] = Math.min(bounds.high[i]!, high - ways[i]! + error)
      if (bounds.low[i] > bounds.high[i]) this.#gone[i] = 1
    })
  }

  /** One of the remaining places. */
  any(random: Random): Place | null {
    const left = this.#places.filter((_, i) => this.#gone[i] === 0)
    return left[Math.floor(random() * left.length)] ?? null
  }

  /** The middle of the remaining places, once all are near it. */
  found(): Place | null {
    const left = this.#places.filter((_, i) => this.#gone[i] === 0)
    if (left.length === 0) return null
    const mean = (of: (place: Place) => number) =>
      left.reduce((sum, place) => sum + of(place), 0) / left.length
    const middle = { lat: mean(({ lat }) => lat), lng: mean(({ lng }) => lng) }
    return left.every((place) => distanceMm(middle, place) <= FOUND_M * 1_000) ? middle : null
  }
}

/** A pilgrim who has walked to bed, others who sleep as well, and the services. */
async function openNight() {
  const calendarDay = Math.ceil((Date.now() + 8 * HOUR_MS) / DAY_MS) * DAY_MS - 8 * HOUR_MS
  let nowMs = calendarDay + 10 * MINUTE_MS
  const now = () => nowMs
  const parts = await openServiceParts(
    {
      EVENT_MAP_CROWD: `${CROWD}`,
      EVENT_IDENTITY: 'open',
      EVENT_LIMIT_SYNC: '1000000',
      EVENT_LIMIT_USER_WRITE: '1000000',
      EVENT_LIMIT_ADDRESS: '1000000000',
    },
    { now },
  )
  const { ports } = parts
  const { db, kv, calendar } = ports
  const tracking = createTracking(parts.context('tracking'))
  const survey = createSurveyProfile(parts.context('survey-profile'))
  await publishStatus(db, kv)
  await tracking.start()
  const random = createRandom(5)
  const call = async (service: typeof tracking, path: string, body?: object): Promise<unknown> => {
    const answer = await service.fetch(
      new Request(`http://event.test/api/event/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
    return ((await answer.json()) as { data: unknown }).data
  }
  const sync = async (userId: string, points: readonly { at: Place; t: number }[]) => {
    const track = points.map(({ at: { lat, lng }, t }) => ({ lat, lng, timestamp: t }))
    const taken = trackSyncEndpoint.data.parse(
      await call(tracking, 'track/sync', { user_id: userId, points: track }),
    )
    expect(taken.rejected).toEqual([])
  }
  const store = () =>
    flush(
      {
        db,
        kv,
        calendar,
        now,
        log: createLog({}, () => undefined),
        metrics: createMetrics('test'),
        retentionMs: 3 * DAY_MS,
        lockMs: 90_000,
        maxAgeMs: 30 * 86_400_000,
        slicePoints: 5_000,
        stopping: new AbortController().signal,
        hidesLate: (userId) => userId === VICTIM,
      },
      0,
    )
  const noisy = (): Place => moved(HOME, NOISE_M * (2 * random() - 1), NOISE_M * (2 * random() - 1))
  // 23.4 km to bed, at 4 km/h.
  const startMs = nowMs - 10 * HOUR_MS
  const walkTo = (home: Place) =>
    Array.from({ length: 59 }, (_, i) => ({
      at: moved(home, 400 * (58 - i) + 200, 0),
      t: startMs + i * 6 * MINUTE_MS,
    }))
  for (let i = 0; i < CROWD; i++) await sync(`U-other-${i}`, walkTo(moved(HOME, 0, 3_000 + 500 * i)))
  await sync(VICTIM, [...walkTo(HOME), { at: noisy(), t: nowMs - REPORT_MS }])
  await store()
  return {
    now,
    random,
    sync,
    store,
    totals: () => readEventTotals({ db, kv, now }, CROWD, CLAIM_MEASURES.coarseSums),
    profile: async () => profileEndpoint.data.parse(await call(survey, `user/${VICTIM}`)),
    report: async (walk: number) =>
      userSyncEndpoint.data.parse(await call(survey, 'user/sync', { user_id: VICTIM, transport: { walk } })),
    /** The phone's next report. */
    sleep(ms: number): void {
      nowMs += ms
    },
    wake: () => sync(VICTIM, [{ at: noisy(), t: nowMs }]),
    async close() {
      await tracking.stop()
      await parts.close()
    },
  }
}

interface Cost {
  requests: number
  minutes: number
  found: boolean
  offM: number | null
}

/** Displayed kilometres, and the bounds that they imply for the exact ones (mm). */
const boundsOf = (km: number): [number, number] => [km * 1e6, (km + (km < 10 ? 1 : 5)) * 1e6]

interface Plan {
  /** Distance of the attacker's places from the suspected one. */
  readonly reachM: number
  /** Small steps after each, which find the moment at which a figure changes. */
  readonly steps: number
  readonly stepM: number
  readonly inserts?: boolean
  readonly savings?: boolean
  readonly sums?: boolean
}

async function attack({ reachM, steps, stepM, ...plan }: Plan): Promise<Cost> {
  const night = await openNight()
  try {
    const { random } = night
    const cost: Cost = { requests: 0, minutes: 0, found: false, offM: null }
    const fromMs = night.now()
    await night.wake()
    const suspects = new Suspects(moved(HOME, 260, -310), fromMs)
    const look = async () => {
      cost.requests++
      const { km } = await night.profile()
      suspects.hear('profile', boundsOf(km), !CLAIM_MEASURES.lateAtMidnight)
      if (plan.sums === true) {
        await night.store()
        cost.requests++
        const sum = (await night.totals())!.km * 1e6
        suspects.hear('totals', [sum, sum + 1e6])
      }
      if (plan.savings === true) await measureSavings()
    }
    /** Adds walked kilometres until the rounded savings step. */
    const measureSavings = async () => {
      const savedWith = async (km: number) => {
        cost.requests++
        return (await night.report(km)).carbon_saved_kg
      }
      const before = await savedWith(0)
      let [low, high] = [0, 1.2 / KG_PER_KM.bus]
      if ((await savedWith(high)) === before) return
      while (high - low > 0.005) {
        const middle = (low + high) / 2
        if ((await savedWith(middle)) === before) low = middle
        else high = middle
      }
      const exactMm = ((before + 0.5) / KG_PER_KM.bus - high) * 1e6
      suspects.hear('savings', [exactMm - 10_000, exactMm + 10_000], true)
    }
    const write = async (at: Place, t: number) => {
      cost.requests++
      await night.sync(VICTIM, [{ at, t }])
    }
    const aim = (): Place => {
      const angle = 2 * Math.PI * random()
      const metres = reachM * (0.3 + 0.7 * random())
      return moved(suspects.any(random) ?? HOME, metres * Math.cos(angle), metres * Math.sin(angle))
    }
    await look()
    for (let n = 0; night.now() < fromMs + ATTACK_MS && !cost.found; n++) {
      const reportMs = night.now()
      night.sleep(REPORT_MS / 2)
      if (plan.inserts !== true) {
        let at = aim()
        await write(at, night.now())
        suspects.go({ at, t: night.now() })
        await look()
        for (let i = 0; i < steps; i++) {
          night.sleep(30_000)
          at = moved(at, i % 2 === 0 ? stepM : -stepM, 0)
          await write(at, night.now())
          suspects.go({ at, t: night.now() })
          await look()
        }
      }
      night.sleep(reportMs + REPORT_MS - night.now())
      await night.wake()
      suspects.go({ at: null, t: night.now() })
      if (plan.inserts === true && n >= REPORTS) {
        // A place for each report of the last hours, all at once.
        for (let back = 1; back <= REPORTS && suspects.found() === null; back++) {
          const at = aim()
          await write(at, night.now() - (back - 0.5) * REPORT_MS)
          if (!CLAIM_MEASURES.lateAtMidnight) suspects.insert(at, REPORT_MS / 2)
          await look()
        }
      }
      if (plan.inserts !== true || n >= REPORTS) await look()
      if (n % 6 === 5) await night.store()
      const found = suspects.found()
      cost.minutes = plan.inserts === true ? 5 : (night.now() - fromMs) / MINUTE_MS
      cost.offM = found === null ? null : distanceMm(found, HOME) / 1_000
      cost.found = cost.offM !== null && cost.offM <= FOUND_M
      if (plan.inserts === true && n >= REPORTS) break
    }
    return cost
  } finally {
    await night.close()
  }
}

type Measure = keyof typeof CLAIM_MEASURES
async function attackWithout(measure: Measure | null, plan: Plan): Promise<Cost> {
  if (measure !== null) CLAIM_MEASURES[measure] = false
  try {
    const cost = await attack(plan)
    console.log(
      `${measure === null ? 'all measures' : `without ${measure}`}, ${JSON.stringify(plan)}: ` +
        `${cost.found ? `${FOUND_M} m` : 'not found'} after ${cost.requests} requests and ${Math.round(cost.minutes)} minutes` +
        (cost.offM === null ? '' : `, off by ${Math.round(cost.offM)} m`),
    )
    return cost
  } finally {
    if (measure !== null) CLAIM_MEASURES[measure] = true
  }
}

const NEAR: Plan = { reachM: 450, steps: 0, stepM: 0 }
const FAST: Plan = { reachM: 2_000, steps: 8, stepM: 250 }
const PLANS: Record<string, Plan> = {
  near: NEAR,
  fast: FAST,
  inserts: { ...NEAR, inserts: true },
  savings: { ...NEAR, savings: true },
  sums: { ...NEAR, sums: true },
}
const TEST_MS = 300_000

test.each(['near', 'fast'])(
  'a day of an attack by %s finds nobody',
  async (name) => {
    expect((await attackWithout(null, PLANS[name]!)).found).toBe(false)
  },
  TEST_MS,
)

test.each([
  ['walkingPace', 'fast'],
  ['lateAtMidnight', 'inserts'],
  ['coarseSavings', 'savings'],
  ['coarseSums', 'sums'],
] as const)(
  'without %s, an attack by %s finds somebody',
  async (measure, name) => {
    expect((await attackWithout(measure, PLANS[name]!)).found).toBe(true)
  },
  TEST_MS,
)
