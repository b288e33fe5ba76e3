/**
 * An attacker who knows a claim's id, in which cell of 350 m its pilgrim sleeps, and when the phone reports. It writes in the
 * pilgrim's name, and reads what is public. With the measures of `core/rules/claim-measures.ts` every answer is the same
 * wherever in that cell the pilgrim is. Without any one of them, the places that explain all answers are soon within a
 * hundred metres. (`presence.test.ts` and `sybils.long.test.ts` switch off those of the map.)
 */
import { expect, test } from 'bun:test'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { readEventTotals } from '#services/tracking/map/map-snapshots.ts'
import { flush } from '#services/scheduler/flush/flush.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { profileEndpoint, userSyncEndpoint } from '#shared/contracts/profile.ts'
import { CLAIM_MEASURES, CLAIM_ZOOM } from '#shared/core/rules/claim-measures.ts'
import { KG_PER_KM } from '#shared/core/rules/carbon.ts'
import { distanceMm, METRES_PER_DEGREE, type Place } from '#shared/core/rules/geo.ts'
import { cellAt, cellBounds, cellCentre } from '#shared/core/map/cells.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createLog } from '#shared/runtime/log.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { createRandom } from '#tests/helpers/random.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** How often a phone at rest reports. */
const REPORT_MS = 10 * MINUTE_MS
/** The night before, the walk, and the attack until before the next midnight. */
const ATTACK_MS = 23 * HOUR_MS
const CROWD = 5
const VICTIM = 'U0123456789abcdef0123456789abcdef'
const CELL = cellAt(24.32162, 120.60153, CLAIM_ZOOM)
const CENTRE = cellCentre(CELL)
const [WEST, SOUTH, EAST, NORTH] = cellBounds(CELL)
/** Near a corner of the cell, and near the opposite one. */
const HOME: Place = { lat: NORTH - 0.0003, lng: EAST - 0.0003 }
const ELSEWHERE: Place = { lat: SOUTH + 0.0003, lng: WEST + 0.0003 }
/** Metres between the places that the attacker considers. */
const STEP_M = 5
const FOUND_M = 100
const NOISE_M = 4

const moved = ({ lat, lng }: Place, northM: number, eastM: number): Place => ({
  lat: lat + northM / METRES_PER_DEGREE,
  lng: lng + eastM / (METRES_PER_DEGREE * Math.cos((lat * Math.PI) / 180)),
})

/** The places of the cell that explain all answers so far. */
class Suspects {
  readonly #places: Place[] = []
  /** By how much the walk has grown if the pilgrim is there (mm). */
  readonly #grown: number[]
  readonly #bounds = new Map<string, { readonly low: Float64Array; readonly high: Float64Array }>()
  readonly #gone: Uint8Array
  #last: Place | null = null
  #homeLegs = 1

  constructor() {
    const stepLat = STEP_M / METRES_PER_DEGREE
    for (let lat = SOUTH; lat <= NORTH; lat += stepLat)
      for (let lng = WEST; lng <= EAST; lng += stepLat) this.#places.push({ lat, lng })
    this.#gone = new Uint8Array(this.#places.length)
    this.#grown = this.#places.map(() => 0)
  }

  /** The walk goes on to a place; null: home. */
  go(to: Place | null): void {
    if (this.#last !== null || to !== null) this.#add(this.#last, to)
    this.#last = to
  }

  /** A place is put between home and another place, on the way there or back. */
  insert(at: Place, other: Place): void {
    this.#add(null, at)
    this.#add(at, other)
    this.#add(null, other, -1)
  }

  #add(from: Place | null, to: Place | null, sign: 1 | -1 = 1): void {
    if (from === null || to === null) this.#homeLegs++
    this.#places.forEach((home, i) => {
      const mm = distanceMm(from ?? home, to ?? home)
      if (mm >= 10_000) this.#grown[i]! += sign * mm
    })
  }

  /** An answer says that a sum is at least `low` and below `high` (mm). */
  hear(sum: string, [low, high]: readonly [number, number]): void {
    const bounds = this.#bounds.getOrInsertComputed(sum, () => ({
      low: new Float64Array(this.#places.length).fill(-Infinity),
      high: new Float64Array(this.#places.length).fill(Infinity),
    }))
    const error = 1_000 * (3 * Math.sqrt(this.#homeLegs) * NOISE_M + (this.#homeLegs * STEP_M) / 2)
    this.#places.forEach((_, i) => {
      bounds.low[i] = Math.max(bounds.low[i]!, low - this.#grown[i]! - error)
      bounds.high[i] = Math.min(bounds.high[i]!, high - this.#grown[i]! + error)
      if (bounds.low[i] > bounds.high[i]) this.#gone[i] = 1
    })
  }

  /** The middle of the places that are left, once all are near it. */
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
async function openNight(home: Place) {
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
  const noisy = (): Place => moved(home, NOISE_M * (2 * random() - 1), NOISE_M * (2 * random() - 1))
  // 23.4 km to bed, at 4 km/h.
  const startMs = nowMs - 10 * HOUR_MS
  const walkTo = (place: Place) =>
    Array.from({ length: 59 }, (_, i) => ({
      at: moved(place, 400 * (58 - i), 0),
      t: startMs + i * 6 * MINUTE_MS,
    }))
  for (let i = 0; i < CROWD; i++) await sync(`U-other-${i}`, walkTo(moved(CENTRE, 0, 3_000 + 500 * i)))
  await sync(VICTIM, [...walkTo(CENTRE), { at: noisy(), t: nowMs - REPORT_MS }])
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

interface Plan {
  /** How far the attacker's places are from the middle of the cell. */
  readonly reachM: number
  /** Number of reports for which the place stays the same; there are three around the cell. */
  readonly block: number
  /** Inserts a place before each report of the last hours. */
  readonly inserts?: boolean
  readonly savings?: boolean
  readonly sums?: boolean
}

interface Found {
  readonly requests: number
  readonly minutes: number
  /** From the pilgrim's place to the middle of those that explain all answers, once these are within {@link FOUND_M}. */
  readonly offM: number | null
  readonly answers: readonly number[]
}

/** Kilometres that others are shown, and what they say of the exact ones (mm). */
const boundsOf = (km: number): [number, number] => [km * 1e6, (km + (km < 10 ? 1 : 5)) * 1e6]

async function attack({ reachM, block, ...plan }: Plan, home = HOME): Promise<Found> {
  const night = await openNight(home)
  try {
    const answers: number[] = []
    let requests = 0
    const fromMs = night.now()
    await night.wake()
    const suspects = new Suspects()
    // A sum between cells says nothing of places.
    const isExact = !CLAIM_MEASURES.lateAtEnd || !CLAIM_MEASURES.betweenCells
    const answered = (answer: number): number => {
      requests++
      answers.push(answer)
      return answer
    }
    const look = async () => {
      const km = answered((await night.profile()).km)
      if (isExact) suspects.hear('profile', boundsOf(km))
    }
    const lookAtSums = async () => {
      const sum = answered((await night.totals())!.km) * 1e6
      if (!CLAIM_MEASURES.coarseSums) suspects.hear('totals', [sum, sum + 1e6])
    }
    /** Adds walked kilometres until the rounded savings step. */
    const measureSavings = async () => {
      const savedWith = async (km: number) => answered((await night.report(km)).carbon_saved_kg)
      const before = await savedWith(0)
      let [low, high] = [0, 1.2 / KG_PER_KM.bus]
      if ((await savedWith(high)) === before) return
      while (high - low > 0.005) {
        const middle = (low + high) / 2
        if ((await savedWith(middle)) === before) low = middle
        else high = middle
      }
      const exactMm = ((before + 0.5) / KG_PER_KM.bus - high) * 1e6
      if (!CLAIM_MEASURES.coarseSavings) suspects.hear('savings', [exactMm - 10_000, exactMm + 10_000])
    }
    const write = async (points: Parameters<typeof night.sync>[1]) => {
      requests++
      await night.sync(VICTIM, points)
    }
    const placeOf = (n: number): Place => {
      const angle = (Math.floor(n / block) % 3) * ((2 * Math.PI) / 3)
      return moved(CENTRE, reachM * Math.cos(angle), reachM * Math.sin(angle))
    }
    const offM = () => {
      const found = suspects.found()
      return found === null ? null : distanceMm(found, home) / 1_000
    }
    await look()
    for (let n = 0; night.now() < fromMs + ATTACK_MS && offM() === null; n++) {
      const reportMs = night.now()
      night.sleep(REPORT_MS / 2)
      const at = placeOf(n)
      await write([{ at, t: night.now() }])
      suspects.go(at)
      await look()
      night.sleep(reportMs + REPORT_MS - night.now())
      await night.wake()
      suspects.go(null)
      await look()
      if (n % 6 !== 5) continue
      await night.store()
      if (plan.sums === true) await lookAtSums()
      if (plan.savings === true) await measureSavings()
      if (plan.inserts !== true) continue
      const inserted = moved(at, 100, 100)
      // In the middle between two points of the last hour.
      const times = Array.from({ length: 10 }, (_, back) => night.now() - (back + 0.5) * (REPORT_MS / 2))
      await write(times.map((t) => ({ at: inserted, t })))
      times.forEach(() => suspects.insert(inserted, at))
      await look()
    }
    return { requests, minutes: (night.now() - fromMs) / MINUTE_MS, offM: offM(), answers }
  } finally {
    await night.close()
  }
}

type Measure = keyof typeof CLAIM_MEASURES
const STEADY: Plan = { reachM: 250, block: 12 }
/** The measures that this attacker faces, and how it finds somebody without them. */
const WITHOUT: Record<Exclude<Measure, 'fullHours' | 'wideCells'>, Plan> = {
  betweenCells: STEADY,
  lateAtEnd: { ...STEADY, inserts: true },
  coarseSavings: { ...STEADY, savings: true },
  coarseSums: { ...STEADY, sums: true },
}
const TEST_MS = 300_000

test(
  'a day of an attack is answered alike wherever in the cell the pilgrim is',
  async () => {
    const plan: Plan = { ...STEADY, inserts: true, savings: true, sums: true }
    const [found, elsewhere] = [await attack(plan), await attack(plan, ELSEWHERE)]
    expect(distanceMm(HOME, ELSEWHERE) / 1_000).toBeGreaterThan(350)
    expect(found.requests).toBeGreaterThan(500)
    expect(elsewhere.answers).toEqual(found.answers)
    expect(found.offM).toBeNull()
  },
  2 * TEST_MS,
)

test.each(Object.entries(WITHOUT))(
  'without %s, an attack finds somebody',
  async (measure, plan) => {
    CLAIM_MEASURES[measure as Measure] = false
    try {
      const { offM, requests, minutes } = await attack(plan)
      console.log(
        `without ${measure}: ${offM === null ? 'not found' : `off by ${Math.round(offM)} m`} ` +
          `after ${requests} requests and ${Math.round(minutes)} minutes`,
      )
      expect(offM ?? Infinity).toBeLessThanOrEqual(FOUND_M)
    } finally {
      CLAIM_MEASURES[measure as Measure] = true
    }
  },
  TEST_MS,
)
