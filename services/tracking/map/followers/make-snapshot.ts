/** Makes a snapshot of the followers' map: everything they need, as one value. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { EventMap, MapTotals } from '#shared/contracts/map.ts'
import { time } from '#shared/contracts/fields.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { alongAxis, alongRoute, middleOfWalk, type Places } from '#shared/map/front-and-tail.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { within } from '#shared/runtime/deadline.ts'
import type { PublicMap } from '../public-map.ts'
import { crowdOnMap } from './crowd-on-map.ts'
import { estimatesOf, placeOf, type Sample, speedOf, withSample } from './movement.ts'
import { readEventTotals } from './read-event-totals.ts'
import { routeVersion } from './show-route.ts'

/** Totals move with each flush, and their sums read every pilgrim's row. */
const TOTALS_MS = 60_000
const TIMEOUT_MS = 3_000

/** A snapshot, and what the next one needs of it. */
export interface Snapshot {
  readonly map: EventMap
  readonly samples: readonly Sample[]
  /** When the totals were read, epoch milliseconds. */
  readonly totalsMs: number
}

type Context = Pick<ServiceContext, 'config' | 'db' | 'kv' | 'log' | 'now'>

/**
 * Makes the snapshot with this version.
 * @param last the snapshot before; null: there is none
 * @throws Refusal 503 when the positions are out of date; KvUnavailable
 */
export async function makeSnapshot(
  context: Context,
  publicMap: PublicMap,
  version: number,
  last: Snapshot | null,
): Promise<Snapshot> {
  const { config, db, kv, now } = context
  const { route, stations } = config
  const nowMs = now()
  const crowd = await crowdOnMap(publicMap)
  const middle = middleOfWalk(crowd.places, route)
  const samples = withSample(last?.samples ?? [], middle, crowd.isRecent, nowMs)
  const ends = route === null ? axisOf(crowd.places, samples) : alongRoute(crowd.places, route)
  const front = ends?.front ?? null
  const { status, message } = (await kv.status()) ?? (await readStatus(db))
  const speedKmh = status === 'ended' ? null : speedOf(samples, middle, nowMs)
  const { totals, totalsMs, isStale } = await totalsNow(context, last, nowMs)
  const estimates = status === 'active' ? estimatesOf(stations, { front, middle, speedKmh }, nowMs) : []
  const map: EventMap = {
    since: null,
    version,
    as_of: time(nowMs),
    event: eventOf(context),
    status,
    message,
    stale: isStale ? ['totals'] : [],
    seen_since: time(crowd.sinceMs),
    on_map: crowd.people,
    cells: crowd.cells,
    front: placeOf(front, stations),
    middle: placeOf(middle, stations),
    tail: placeOf(ends?.tail ?? null, stations),
    speed_kmh: speedKmh,
    estimates,
    totals,
  }
  return { map, samples, totalsMs }
}

/** The last snapshot once more, when the crowd cannot be read. */
export function staleSnapshot(last: Snapshot, version: number): Snapshot {
  const stale = [...new Set(['crowd' as const, ...last.map.stale])]
  return { ...last, map: { ...last.map, version, stale, estimates: [] } }
}

/** Without a route the direction is that of the last hour. */
const axisOf = (places: Places, samples: readonly Sample[]) =>
  alongAxis(places, {
    lats: samples.map(({ lat }) => lat),
    lngs: samples.map(({ lng }) => lng),
    weights: samples.map(() => 1),
  })

function eventOf({ config }: Context): EventMap['event'] {
  const { eventName, startsMs, endsMs, timeZone, mapCrowd } = config
  return {
    name: eventName,
    starts_at: startsMs === null ? null : time(startsMs),
    ends_at: endsMs === null ? null : time(endsMs),
    time_zone: timeZone,
    crowd: mapCrowd,
    route: routeVersion(config),
  }
}

interface Totals {
  readonly totals: MapTotals | null
  readonly totalsMs: number
  /** The database did not answer. */
  readonly isStale: boolean
}

async function totalsNow(context: Context, last: Snapshot | null, nowMs: number): Promise<Totals> {
  if (last !== null && !last.map.stale.includes('totals') && Math.abs(nowMs - last.totalsMs) < TOTALS_MS)
    return { totals: last.map.totals, totalsMs: last.totalsMs, isStale: false }
  const kept: Totals = { totals: last?.map.totals ?? null, totalsMs: last?.totalsMs ?? 0, isStale: true }
  const read = readEventTotals(context, context.config.mapCrowd).then(
    (totals): Totals => ({ totals, totalsMs: nowMs, isStale: false }),
    (error: unknown) => {
      if (!isDatabaseUnavailable(error)) context.log.error('reading the totals failed', errorFields(error))
      return kept
    },
  )
  return within(read, TIMEOUT_MS, () => kept)
}
