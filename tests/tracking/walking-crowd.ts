/** A thousand pilgrims who walk and rest, on a simulated clock, and the services that their phones and an attacker use. */
import { createAdmin } from '#services/admin/app.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'
import { LivePositions } from '#services/tracking/map/latest-positions.ts'
import { FollowersMap } from '#services/tracking/map/map-snapshots.ts'
import { PublicMap } from '#services/tracking/map/public-map.ts'
import { createMap } from '#services/tracking/map/show-map.ts'
import { type Environment, readConfig } from '#shared/runtime/config/config.ts'
import type { Service } from '#shared/service/context.ts'
import { mapEndpoint } from '#shared/contracts/map.ts'
import { dataEndpoint } from '#shared/contracts/tracking.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { serviceOf } from '#shared/service/http/routes.ts'
import { createRoute } from '#shared/core/map/walking-route.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts } from '#shared/service/service.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { randomBy } from '#tests/scheduler/walks.ts'

const MINUTE_MS = 60_000
const METRES_PER_DEGREE = 111_195
/** Length of the part of the route on which everybody starts. */
const SPREAD_M = 15_000

export interface Scene {
  /** The services' time, epoch milliseconds. */
  nowMs: number
  /** Sends a request as the proxy would. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Refreshes the live map and the map of followers. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** Opens the services that answer the public, on the run's Postgres if there is one. */
export async function openScene(startMs: number, settings: Environment): Promise<Scene> {
  const database = embeddedOnly ? null : await openTestDatabase()
  const config = readConfig({
    EVENT_DATA_DIR: await newDirectory('scene'),
    DATABASE_URL: database?.url,
    EVENT_LIMIT_SYNC: '1000000',
    // An attacker has many addresses.
    EVENT_LIMIT_ADDRESS: '1000000000',
    ...settings,
  })
  const log = createLog({}, () => undefined)
  const clock = { nowMs: startMs }
  const now = () => clock.nowMs
  const ports = await openPorts(config, log, now, database === null ? migrateDatabase : undefined)
  const client = {
    tls: false,
    addressOf: (request: Request) => request.headers.get('x-forwarded-for') ?? '192.0.2.1',
  }
  const context = contextOf(ports, 'scene', log, client)
  const services = new Map<string, Service>()
  for (const create of [createTracking, createSurveyProfile, createFeedbackMedia, createAdmin]) {
    const service = create(contextOf(ports, create.name, log, client))
    services.set(service.name, service)
  }
  for (const service of services.values()) await service.start()
  // The service refreshes its map on the real clock; this one is refreshed by the test.
  const live = new LivePositions(ports.kv, now, log)
  const map = createRouter(context)
  const publicMap = new PublicMap(live, config.mapCrowd, now)
  const showMap = createMap(context, live, publicMap)
  map.serve(dataEndpoint, ({ query, operator }) => showMap(query, operator))
  const followers = new FollowersMap(context, publicMap)
  map.serve(mapEndpoint, ({ request, query }) => followers.answer(request, query.since))
  return Object.assign(clock, {
    async fetch(path: string, init?: RequestInit) {
      const request = new Request(`http://event.test${path}`, init)
      const { pathname } = new URL(request.url)
      if (pathname === dataEndpoint.path || pathname === mapEndpoint.path) return map.app.fetch(request)
      return services.get(serviceOf(pathname, request.method))!.fetch(request)
    },
    async refresh() {
      await live.refresh()
      await followers.refresh()
    },
    async close() {
      for (const service of services.values()) await service.stop()
      await ports.close()
      await database?.drop()
    },
  })
}

interface Pilgrim {
  readonly userId: string
  readonly address: string
  readonly kmh: number
  /** Time between two reports of the phone. */
  readonly everyMs: number
  alongM: number
  rests: boolean
  changesMs: number
  sendsMs: number
}

/** A place on the winding road on which everybody walks. */
const roadAt = (alongM: number) => ({
  lat: 24.15 + alongM / METRES_PER_DEGREE,
  lng: 120.67 + 0.01 * Math.sin(alongM / 1_500),
})

/** The road, as the event's route. */
export const road = createRoute([Array.from({ length: 1_001 }, (_, i) => roadAt((i * 2 * SPREAD_M) / 1_000))])

/** Pilgrims with paces, rests and phones of their own. */
export class Walkers {
  readonly #random = randomBy(12)
  readonly #pilgrims: readonly Pilgrim[]
  readonly userIds: readonly string[]

  constructor(
    private readonly scene: Scene,
    count: number,
  ) {
    this.#pilgrims = Array.from({ length: count }, (_, i) => ({
      userId: `pilgrim-${i}`,
      address: `10.0.${i >> 8}.${i & 255}`,
      kmh: 3 + 2.5 * this.#random(),
      everyMs: (3 + 6 * this.#random()) * MINUTE_MS,
      alongM: SPREAD_M * this.#random(),
      rests: this.#random() < 0.3,
      changesMs: scene.nowMs + 40 * MINUTE_MS * this.#random(),
      sendsMs: scene.nowMs,
    }))
    this.userIds = this.#pilgrims.map(({ userId }) => userId)
  }

  /** Advances the time. Phones whose report is due send their position. */
  async walk(ms: number): Promise<void> {
    this.scene.nowMs += ms
    const now = this.scene.nowMs
    const reports = this.#pilgrims.flatMap((pilgrim) => {
      if (!pilgrim.rests) pilgrim.alongM += (pilgrim.kmh / 3.6e3) * ms
      if (now >= pilgrim.changesMs) {
        pilgrim.rests = !pilgrim.rests
        pilgrim.changesMs =
          now + (pilgrim.rests ? 5 + 20 * this.#random() : 20 + 40 * this.#random()) * MINUTE_MS
      }
      if (now < pilgrim.sendsMs) return []
      pilgrim.sendsMs = now + pilgrim.everyMs * (0.7 + 0.6 * this.#random())
      return [this.#report(pilgrim)]
    })
    for (const answer of await Promise.all(reports))
      if (answer.status !== 200) throw new Error(`a report was answered ${answer.status}`)
    await this.scene.refresh()
  }

  /** A place on the road, with a phone's accuracy, some seconds ago. */
  #report({ userId, address, alongM }: Pilgrim): Promise<Response> {
    const wrong = () => (10 * (this.#random() - 0.5)) / METRES_PER_DEGREE
    const { lat, lng } = roadAt(alongM)
    const point = {
      lat: lat + wrong(),
      lng: lng + wrong(),
      timestamp: Math.floor(this.scene.nowMs - 20_000 * this.#random()),
    }
    return this.scene.fetch('/api/event/track/sync', {
      method: 'POST',
      headers: { 'X-Forwarded-For': address },
      body: JSON.stringify({ user_id: userId, points: [point] }),
    })
  }
}
