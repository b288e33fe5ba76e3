/**
 * Snapshots for `GET map`, one every ten seconds, created once for all replicas. The first replica creates it, and all
 * others read it from the kv. So all replicas know the same versions, and each can compute the changes since any of them.
 * While the kv is unavailable, each replica answers with its last snapshot, marked as stale. With `EVENT_MAP_DIR` the
 * answers of the last minutes are also files, so that hardly any request arrives here.
 */
import type { ServiceContext } from '#shared/service/context.ts'
import { type EventMap, type MapTotals, EventMapDelta, type MapCellEntry } from '#shared/contracts/map.ts'
import { isRecent } from '#shared/runtime/clock.ts'
import { Refusal, unavailable } from '#shared/runtime/refusal.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { Route } from '#shared/core/map/walking-route.ts'
import type { Position } from '#shared/stores/kv/kv.ts'
import { type Palanquin, readOr } from './palanquin.ts'
import { type PublicMap, crowdOnMap } from './public-map.ts'
import { type Edition, writeMapFiles } from './map-files.ts'
import { type ActivityStatus, time, timeOrNull } from '#shared/contracts/fields.ts'
import { readMessages, readStatus } from '#shared/pilgrims/activity-status.ts'
import { alongAxis, alongRoute, type End, middleOf, type Places } from '#shared/core/map/front-and-tail.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import {
  estimatesOf,
  type Front,
  paceOf,
  placeOf,
  type Sample,
  speedOf,
  withFront,
  withSample,
} from './arrival-times.ts'
import { routeVersion } from '#shared/pilgrims/event-route.ts'
import { PILGRIMS_OF_EVENT } from '#shared/stores/schema/tables.ts'
import { readLastFlush } from '#shared/points/pending-points.ts'
import { savedMg } from '#shared/core/rules/carbon.ts'
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'
import { COARSE_MM, IS_CLAIM, publicReports, SHOWN_MM, SHOWN_WALK } from '#shared/pilgrims/report-totals.ts'
import { leads } from '#shared/core/rules/palanquin.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'

/** Totals change with each flush, and summing them reads every pilgrim's row. */
const TOTALS_MS = 60_000

/** A snapshot, and the state that the next one needs. */
interface Snapshot {
  readonly map: EventMap
  readonly samples: readonly Sample[]
  readonly fronts: readonly Front[]
  /** When the totals were read, epoch milliseconds. */
  readonly totalsMs: number
  /** Hash of the palanquin's device; null: none. The kv stores snapshots, and no id. */
  readonly palanquinHash: string | null
}

type Context = Pick<ServiceContext, 'config' | 'db' | 'event' | 'kv' | 'log' | 'now'>
type Leader = Pick<Palanquin, 'hash' | 'place'>

/**
 * Creates the snapshot with this version.
 * @param before the last snapshot; null: there is none
 * @param leader the current palanquin
 * @throws Refusal 503 when the positions are out of date; KvUnavailable
 */
async function makeSnapshot(
  context: Context,
  publicMap: PublicMap,
  version: number,
  before: Snapshot | null,
  { hash: palanquinHash, place: palanquin }: Leader,
): Promise<Snapshot> {
  const { db, event, kv, now } = context
  const { route, stations } = event.current
  const nowMs = now()
  // After a change of route, its distances are meaningless.
  const last = before?.map.event.route === routeVersion(event.current) ? before : null
  const crowd = await crowdOnMap(publicMap)
  const onRoute = route === null ? null : await inTurns(alongRoute(crowd.places, route))
  const middle = route === null ? middleOf(crowd.places) : (onRoute?.middle ?? null)
  const along = palanquin === null ? null : endOf(palanquin, route, middle)
  const leading = palanquin !== null && leads(palanquin.t, nowMs) ? along : null
  const leader = leading ?? middle
  const { samples, all } = samplesOf(last, leading, middle, crowd.isRecent, nowMs)
  const ends = route === null ? axisOf(crowd.places, samples) : onRoute
  // A snapshot of an older release has none.
  const fronts = withFront(last?.fronts ?? [], onRoute?.front ?? null, nowMs)
  const front = ends === null ? null : (fronts[0] ?? ends.front)
  const versioned = (await kv.status()) ?? (await readStatus(db))
  const { status, message } = versioned
  const speedKmh = status === 'ended' ? null : speedOf(samples, leader, nowMs)
  const { totals, totalsMs, isStale } = await totalsNow(context, before, status, nowMs)
  // Off the route, the palanquin arrives at no station.
  const walk = {
    front,
    middle: leader?.alongM == null ? middle : leader,
    pace: status === 'ended' ? null : paceOf(samples, leader, nowMs),
    startsMs: event.current.startsMs,
  }
  const estimates = status === 'active' ? estimatesOf(stations, walk, nowMs, last?.map.estimates) : []
  const map: EventMap = {
    since: null,
    version,
    as_of: time(nowMs),
    event: eventOf(context),
    status,
    message,
    messages: await readMessages(db, versioned),
    stale: isStale ? ['totals'] : [],
    seen_since: time(crowd.sinceMs),
    on_map: crowd.people,
    cells: crowd.cells,
    front: placeOf(front, stations),
    middle: placeOf(middle, stations),
    tail: placeOf(ends?.tail ?? null, stations),
    palanquin: palanquin === null ? null : { ...placeOf(along, stations)!, seen_at: time(palanquin.t) },
    speed_kmh: speedKmh,
    estimates,
    totals,
  }
  return { map, samples: all, fronts, totalsMs, palanquinHash }
}

/**
 * The samples of the leader, and those of palanquin and crowd together, so that the crowd's pace is known as soon as
 * the palanquin falls silent.
 * @param leading the palanquin's place while it leads
 */
function samplesOf(
  last: Snapshot | null,
  leading: End | null,
  middle: End | null,
  isRecent: boolean,
  nowMs: number,
) {
  const before = last?.samples ?? []
  const ofPalanquin = withSample(before, leading, 'palanquin', nowMs)
  const ofMiddle = withSample(before, middle, isRecent ? 'recent' : 'day', nowMs)
  return { samples: leading === null ? ofMiddle : ofPalanquin, all: [...ofPalanquin, ...ofMiddle] }
}

function staleSnapshot(last: Snapshot, version: number): Snapshot {
  const stale = [...new Set(['crowd' as const, ...last.map.stale])]
  return { ...last, map: { ...last.map, version, stale, estimates: [] } }
}

/** Beyond this distance the palanquin is off the route. */
const OFF_ROUTE_M = 2_000
/** The width of a road plus the error of a phone. */
const EXACT_M = 50

/** The palanquin's place along the route. If several stretches pass the place, the one nearest to the walk counts. */
function endOf(place: Position, route: Route | null, middle: End | null): End {
  const alongs = route?.passes(place, OFF_ROUTE_M, EXACT_M).map(({ alongM }) => alongM) ?? []
  const offWalk = (alongM: number) => Math.abs(alongM - (middle?.alongM ?? 0))
  const [alongM = null] = alongs.toSorted((a, b) => offWalk(a) - offWalk(b))
  return { lat: place.lat, lng: place.lng, alongM }
}

/** Without a route the direction is that of the last hour. */
const axisOf = (places: Places, samples: readonly Sample[]) =>
  alongAxis(places, {
    lats: samples.map(({ lat }) => lat),
    lngs: samples.map(({ lng }) => lng),
    weights: samples.map(() => 1),
  })

function eventOf({ config, event }: Context): EventMap['event'] {
  const { name, names, language, languages, version, followed, startsMs, endsMs, isRehearsal } = event.current
  const { timeZone, mapCrowd } = config
  return {
    name,
    names,
    language,
    languages: [...languages],
    settings_version: version,
    followed,
    starts_at: timeOrNull(startsMs),
    ends_at: timeOrNull(endsMs),
    time_zone: timeZone,
    crowd: mapCrowd,
    rehearsal: isRehearsal,
    route: routeVersion(event.current),
  }
}

interface Totals {
  readonly totals: MapTotals | null
  readonly totalsMs: number
  /** The database did not answer. */
  readonly isStale: boolean
}

async function totalsNow(
  context: Context,
  last: Snapshot | null,
  status: ActivityStatus,
  nowMs: number,
): Promise<Totals> {
  if (last !== null && !last.map.stale.includes('totals') && isRecent(last.totalsMs, nowMs, TOTALS_MS))
    return { totals: last.map.totals, totalsMs: last.totalsMs, isStale: false }
  const kept: Totals = { totals: last?.map.totals ?? null, totalsMs: last?.totalsMs ?? 0, isStale: true }
  const { identity, mapCrowd } = context.config
  const coarsens = CLAIM_MEASURES.coarseSums && identity === 'open' && mapCrowd > 1 && status !== 'ended'
  const read = readEventTotals(context, mapCrowd, coarsens).then((totals): Totals => ({
    totals,
    totalsMs: nowMs,
    isStale: false,
  }))
  return readOr(context.log, 'the totals', read, kept)
}

const EDITION_MS = 10_000
/** Snapshots that a delta may start from: five minutes. */
const KEPT = 30
/** Versions with files of the changes since them: two minutes. A page that was away for longer asks tracking. */
const FILED = 12
/** The number is the version of the format: a release with another one reads none of these snapshots. */
const KEY = 'event-map-5'
const EDITION_TTL_MS = 60_000
/** After a restart of all replicas, the speed of the last hour continues from the last snapshot. */
const LAST_TTL_MS = 3_600_000
const LOCK_MS = 6_000
const WAIT_MS = 300
const WAITS = 20

const CACHE = 'public, max-age=10, stale-while-revalidate=60'

export class FollowersMap {
  #last: Snapshot | null = null
  #answers: Answers | null = null
  /** Versions of the last minutes, oldest first. Stale ones are not included, because they differ between replicas. */
  readonly #kept = new Map<number, EventMap>()
  readonly #refreshing: Repeated
  #writing: Promise<void> | null = null
  /** Whether the last files could not be written. */
  #isUnwritable = false

  constructor(
    private readonly context: Context,
    private readonly publicMap: PublicMap,
    private readonly palanquin: Pick<Palanquin, 'hash' | 'place' | 'refresh'>,
  ) {
    // Shorter than the interval of snapshots, so that each follows soon after its time.
    this.#refreshing = repeated(context.log, 'making the map failed', EDITION_MS / 5, () => this.#refresh())
  }

  async start(): Promise<void> {
    this.#refreshing.start()
    await this.refresh()
  }

  async stop(): Promise<void> {
    await this.#refreshing.stop()
    await this.#writing
  }

  /** The map, or the changes since a version. @throws Refusal 503 before the first snapshot */
  answer(request: Request, since: number | undefined): Response {
    if (this.#answers === null)
      throw unavailable('The map is not known yet. Please try again in a moment.', 2)
    return this.#answers.since(since).respond(request, CACHE)
  }

  /** Loads the current snapshot. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    return this.#refreshing.run()
  }

  async #refresh(): Promise<void> {
    try {
      // By the kv's clock: a replica whose clock is ahead would make the others show its older snapshot as new.
      const version = this.#versionAt(await this.context.kv.clock())
      const isRead = await this.palanquin.refresh()
      if (version === this.#last?.map.version)
        return isRead ? await this.#hidePalanquin(this.#last) : undefined
      this.#last ??= parsed(await this.context.kv.cached(KEY))
      this.#publish(await this.#shared(version))
    } catch (error) {
      const version = this.#versionAt(this.context.now())
      if (this.#last !== null && version !== this.#last.map.version)
        this.#publish(staleSnapshot(this.#last, version))
      if (!(error instanceof Refusal)) throw error
    }
  }

  /**
   * Removes the palanquin from every copy of the last snapshot, once its device is no longer the palanquin, or its
   * pilgrim was erased or hides. Deltas that start from the snapshot include the removal, because the published version
   * stays their base.
   */
  async #hidePalanquin(last: Snapshot): Promise<void> {
    if (last.map.palanquin === null || last.palanquinHash === this.palanquin.hash) return
    const { kv } = this.context
    const hidden = { ...last, map: { ...last.map, palanquin: null }, palanquinHash: null }
    await this.#writing
    this.#show(hidden, true)
    const json = JSON.stringify(hidden)
    await kv.cache(`${KEY}/${last.map.version}`, json, EDITION_TTL_MS)
    await kv.cache(KEY, json, LAST_TTL_MS)
  }

  readonly #versionAt = (ms: number): number => Math.floor(ms / EDITION_MS)

  #publish(snapshot: Snapshot): void {
    const { map } = snapshot
    if (!map.stale.includes('crowd')) this.#kept.set(map.version, map)
    for (const version of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break
      this.#kept.delete(version)
    }
    this.#show(snapshot)
  }

  #show(snapshot: Snapshot, hidesPalanquin = false): void {
    const { version, stale } = snapshot.map
    this.#last = snapshot
    this.#answers = new Answers(snapshot.map, this.#kept)
    const edition = { version, isStale: stale.includes('crowd'), hidesPalanquin }
    const { mapDir } = this.context.config
    if (mapDir !== '') this.#writing ??= this.#write(mapDir, edition, this.#answers)
  }

  async #write(dir: string, edition: Omit<Edition, 'answers'>, answers: Answers): Promise<void> {
    try {
      await writeMapFiles(dir, { ...edition, answers: answers.latest(FILED) })
      this.#isUnwritable = false
    } catch (error) {
      // Logged once. Without files the proxy asks tracking, and the next version is written in ten seconds.
      if (!this.#isUnwritable)
        this.context.log.error('writing the files of the map failed', errorFields(error))
      this.#isUnwritable = true
    } finally {
      this.#writing = null
    }
  }

  /** The snapshot that all replicas share; the one that gets the lock creates it. */
  async #shared(version: number): Promise<Snapshot> {
    const { kv } = this.context
    const key = `${KEY}/${version}`
    for (let waits = 0; waits < WAITS; waits++) {
      const cached = parsed(await kv.cached(key))
      if (cached !== null) return cached
      const token = await kv.lock(KEY, LOCK_MS)
      if (token === null) {
        await Bun.sleep(WAIT_MS)
        continue
      }
      try {
        const made = await makeSnapshot(this.context, this.publicMap, version, this.#last, this.palanquin)
        const shared = await kv.cacheOnce(key, JSON.stringify(made), EDITION_TTL_MS)
        await kv.cache(KEY, shared, LAST_TTL_MS)
        return parsed(shared)!
      } finally {
        await kv.unlock(KEY, token)
      }
    }
    throw unavailable('The map is being made.')
  }
}

const parsed = (json: string | null): Snapshot | null =>
  json === null ? null : (JSON.parse(json) as Snapshot)

// The event's totals for the public, from the tables that the flush updates.

interface Sums {
  readonly mm: number
  readonly mg: number
  /** Distance and carbon of claims that are not shown to others. */
  readonly hidden: readonly [mm: number, mg: number]
  /** Reports about other ways count for the carbon saved. */
  readonly reported: readonly [mm: number, mg: number]
  /** Pilgrims included in the sums, erased ones too. */
  readonly pilgrims: number
  /** Pilgrims with a counted point. */
  readonly walkers: number
  /** Number of them with at least this level, from level 2 on. */
  readonly reached: readonly number[]
}

/** Level 1 has no conditions; the others need a distance and check-ins. */
const reached = (mm: string): string =>
  LEVELS.slice(1)
    .map(
      ({ minKm, minCheckins }) =>
        `count(*) FILTER (WHERE ${mm} >= ${minKm * 1e6} AND t.checkins >= ${minCheckins})`,
    )
    .join(', ')

/** Sums finer than the coarse figures would reveal the exact kilometres of a claim that moves alone. */
const HIDDEN_BY_COARSE = `
  SELECT json_build_array(coalesce(sum(t.distance_mm - ${COARSE_MM}), 0), coalesce(sum(t.carbon_mg), 0))
  FROM pilgrim_totals t ${SHOWN_WALK} WHERE ${IS_CLAIM}`

/**
 * @param coarsensClaims whether to sum rounded kilometres for claims
 * @returns null below `crowd` pilgrims: the sum would nearly be one person's figure
 */
export async function readEventTotals(
  { db, kv, now }: Pick<ServiceContext, 'db' | 'kv' | 'now'>,
  crowd: number,
  coarsensClaims: boolean,
): Promise<MapTotals | null> {
  // Read first, so that the sums are not older than the time shown with them.
  const lastFlush = await readLastFlush({ db, kv, now })
  const {
    pilgrims,
    walkers,
    reached: reaching,
    ...sums
  } = await db.read(async () => {
    const [row] = await db.sql<[{ sums: string }]>`
      SELECT json_build_object(
        'mm', (SELECT coalesce(sum(distance_mm), 0) FROM event_modes),
        'mg', (SELECT coalesce(sum(carbon_mg), 0) FROM event_modes),
        'hidden', (${db.sql.unsafe(coarsensClaims ? HIDDEN_BY_COARSE : 'SELECT json_build_array(0, 0)')}),
        'reported', (SELECT json_build_array(mm, mg) FROM ${db.sql.unsafe(publicReports(coarsensClaims))} r),
        'pilgrims', ${db.sql.unsafe(PILGRIMS_OF_EVENT)},
        'walkers', (SELECT count(*) FROM pilgrim_totals WHERE points > 0),
        'reached', (SELECT json_build_array(${db.sql.unsafe(reached(coarsensClaims ? SHOWN_MM : 't.distance_mm'))})
                    FROM pilgrim_totals t ${db.sql.unsafe(coarsensClaims ? SHOWN_WALK : '')} WHERE t.points > 0)
      )::text AS sums`
    return JSON.parse(row.sums) as Sums
  })
  if (walkers < crowd) return null
  const [mm, mg] = [sums.mm - sums.hidden[0], sums.mg - sums.hidden[1]]
  const [reportedMm, reportedMg] = sums.reported
  const atLeast = [walkers, ...reaching, 0]
  return {
    as_of: timeOrNull(lastFlush),
    pilgrims,
    km: Math.floor(mm / 1e6),
    carbon_saved_kg: Math.round(savedMg(mm + reportedMm, mg + reportedMg) / 1e6),
    levels: LEVELS.map((_, i) => atLeast[i]! - atLeast[i + 1]!),
  }
}

// Responses for one snapshot; each is built once, on first request.

type Field = Exclude<keyof EventMap, 'since' | 'version' | 'as_of' | 'cells'>
const FIELDS = Object.keys(EventMapDelta.shape).filter(
  (name) => !['since', 'version', 'as_of', 'cells'].includes(name),
) as Field[]

/** Applied to `from`, it gives `to`: fields replace fields, cells replace cells of the same place and zoom. */
export function deltaOf(from: EventMap, to: EventMap): EventMapDelta {
  const changed = FIELDS.filter((field) => !Bun.deepEquals(from[field], to[field]))
  const cells = changedCells(from.cells, to.cells)
  return {
    since: from.version,
    version: to.version,
    as_of: to.as_of,
    ...Object.fromEntries(changed.map((field) => [field, to[field]])),
    ...(cells.length === 0 ? {} : { cells }),
  }
}

const nameOf = ([lat, lng, zoom]: MapCellEntry): string => `${zoom} ${lat} ${lng}`

function changedCells(from: readonly MapCellEntry[], to: readonly MapCellEntry[]): MapCellEntry[] {
  const before = new Map(from.map((cell) => [nameOf(cell), cell]))
  const changed: MapCellEntry[] = []
  for (const cell of to) {
    const previous = before.get(nameOf(cell))
    before.delete(nameOf(cell))
    if (previous?.[3] !== cell[3]) changed.push(cell)
  }
  for (const [lat, lng, zoom] of before.values()) changed.push([lat, lng, zoom, 0])
  return changed
}

const prepared = (data: unknown): Prepared => new Prepared(JSON.stringify({ ok: true, data }))

export class Answers {
  readonly #whole: Prepared
  readonly #made = new Map<number, Prepared>()

  /** @param kept the versions that a delta may start from */
  constructor(
    private readonly map: EventMap,
    private readonly kept: ReadonlyMap<number, EventMap>,
  ) {
    this.#whole = prepared(map)
  }

  /** The changes since a version; the whole map for an unknown version, or without one. */
  since(version: number | undefined): Prepared {
    const from = version === undefined ? undefined : this.kept.get(version)
    if (from === undefined) return this.#whole
    return this.#made.getOrInsertComputed(from.version, () => {
      const delta = prepared(deltaOf(from, this.map))
      // If every cell changed, the full map is smaller than the delta.
      return delta.size < this.#whole.size ? delta : this.#whole
    })
  }

  /** Yields the full map, then each delta, computed as they are read. */
  *latest(versions: number): Generator<readonly [since: number | undefined, answer: Prepared]> {
    for (const since of [undefined, ...[...this.kept.keys()].slice(-versions)])
      yield [since, this.since(since)]
  }
}
