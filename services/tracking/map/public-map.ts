/**
 * The live map without a token: how many people are where, without identities. A point is one of at least
 * `EVENT_MAP_CROWD` people whom the map does not distinguish: they share its place, its minute and the scheme of its
 * id. Every query (`since`, `bbox`, `limit`) selects from the same snapshot, so several answers together reveal no more
 * than the snapshot does.
 */
import type { MachineClock } from '#shared/runtime/clock.ts'
import type { DataQuery, LivePosition } from '#shared/contracts/tracking.ts'
import { time } from '#shared/contracts/fields.ts'
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'
import { MAX_MAP_CELLS, type MapCellEntry } from '#shared/contracts/map.ts'
import { type Cell, cellCentre, cellName, MAX_ZOOM, MIN_ZOOM } from '#shared/core/map/cells.ts'
import type { Places } from '#shared/core/map/front-and-tail.ts'
import { groupIntoCrowds } from './crowds.ts'
import { eachOf, inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { inside, type LivePositions } from './latest-positions.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A group of points that differ only in their ids. */
interface Group {
  readonly lat: number
  readonly lng: number
  readonly minuteMs: number
  readonly count: number
  readonly cell: Cell
  /** 0: seen in this hour or the previous one; 1: in the last day. */
  readonly span: number
  /** The pilgrim of the place if `crowd` is 1; else null. */
  readonly userId: string | null
}

/**
 * The finest cells of crowds, about 90 m. Four invented pilgrims can complete a crowd of five, so a finer cell would
 * show where the fifth one sleeps. Claims have wider ones (`CLAIM_ZOOM`).
 */
export const FINEST_ZOOM = 14

const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

export class PublicMap {
  #groups: readonly Group[] = []
  /** Version of the positions, and hour, that the groups are computed from. */
  #version = -1
  #groupsHour = 0
  #computing: Promise<void> | null = null

  /** @param crowd minimum number of people at a place; 1: each person is shown separately, with an own id */
  constructor(
    private readonly live: LivePositions,
    private readonly crowd: number,
    private readonly now: MachineClock,
  ) {}

  /** Points, the latest minute first. @throws Refusal 503 when the positions are out of date */
  async read(query: DataQuery): Promise<LivePosition[]> {
    return inTurns(this.#pointsOf(await this.#current(), query))
  }

  *#pointsOf(groups: readonly Group[], { limit, since, bbox }: DataQuery): Generator<void, LivePosition[]> {
    const sinceMs = minute(Math.max(since ?? 0, this.#dayStart()))
    const points: LivePosition[] = []
    yield* eachOf(groups, (group) => {
      const { lat, lng, minuteMs } = group
      if (points.length === limit || minuteMs < sinceMs || (bbox !== undefined && !inside(group, bbox)))
        return
      const recorded_at = time(minuteMs)
      for (const id of this.#idsOf(group, limit - points.length)) points.push({ id, lat, lng, recorded_at })
    })
    return points
  }

  /**
   * The groups, the latest minute first, and the start of their spans.
   * @throws Refusal 503 when the positions are out of date
   */
  async snapshot(): Promise<{ readonly groups: readonly Group[]; readonly beginsMs: readonly number[] }> {
    const beginsMs = this.#spanBegins()
    return { groups: await this.#current(), beginsMs }
  }

  /**
   * The first ids of a place, up to a maximum. Numbered by place, they reveal no order, and a pilgrim who leaves the
   * place leaves the id.
   */
  #idsOf({ count, userId, span, cell }: Group, atMost: number): string[] {
    return Array.from({ length: Math.min(count, atMost) }, (_, i) =>
      this.live.publicId(userId ?? `${span}/${cellName(cell)}/${i}`),
    )
  }

  /**
   * Start of the shown day. Crowds leave the map together, at a full hour: a person leaving alone could be recognised.
   */
  #dayStart(): number {
    return (this.crowd === 1 ? this.now() : this.#hour()) - DAY_MS
  }

  #hour(): number {
    return Math.floor(this.now() / HOUR_MS) * HOUR_MS
  }

  /** The current groups: computed once for each version of the positions, one version at a time, for all readers. */
  async #current(): Promise<readonly Group[]> {
    this.live.expectCurrent()
    const { version } = this.live
    // Also for an earlier hour, when the clock was set back.
    while (this.#version < version || this.#groupsHour !== this.#hour())
      await (this.#computing ??= this.#compute().finally(() => (this.#computing = null)))
    return this.#groups
  }

  async #compute(): Promise<void> {
    const [{ version }, hour] = [this.live, this.#hour()]
    this.#groups = await inTurns(this.#group())
    this.#version = version
    this.#groupsHour = hour
  }

  #spanBegins(): number[] {
    return [this.#hour() - HOUR_MS, this.#hour() - DAY_MS]
  }

  /**
   * Groups people by when they were last seen: the last hours, the last day. Otherwise a phone that was switched off
   * would make the people around it appear old. The time spans change at full hours only. Nobody is shown for longer.
   */
  *#group(): Generator<void, readonly Group[]> {
    const begins = this.#spanBegins()
    const byMinute = new Map<number, Group[]>()
    const add = (span: number, cell: Cell, count: number, sinceMs: number, userId: string | null): void => {
      const minuteMs = minute(sinceMs)
      const group = { ...cellCentre(cell), minuteMs, count, cell, span, userId }
      byMinute.getOrInsertComputed(minuteMs, () => []).push(group)
    }
    const room = this.live.held()
    const spans = begins.map(() => ({
      count: 0,
      xs: new Int32Array(room),
      ys: new Int32Array(room),
      times: new Float64Array(room),
      claims: new Uint8Array(room),
    }))
    const nowMs = this.now()
    yield* this.live.shown((row, positions) => {
      const { x, y, t } = positions.publicAt(row, nowMs)
      const span = begins.findIndex((ms) => t >= ms)
      if (span === -1) return
      if (this.crowd === 1) return add(span, { zoom: MAX_ZOOM, x, y }, 1, t, positions.userIds[row]!)
      const people = spans[span]!
      // A pilgrim who arrives while the others are counted appears in the next version.
      if (people.count === room) return
      people.xs[people.count] = x
      people.ys[people.count] = y
      people.claims[people.count] = Number(CLAIM_MEASURES.wideCells && positions.claims[row]!)
      people.times[people.count++] = t
    })
    for (const [span, people] of spans.entries())
      yield* eachOf(yield* groupIntoCrowds(people, this.crowd, FINEST_ZOOM), ({ cell, count, sinceMs }) =>
        add(span, cell, count, sinceMs, null),
      )
    return [...byMinute].sort(([a], [b]) => b - a).flatMap(([, groups]) => groups)
  }
}

// The crowd as the public sees it. Everything is computed from the groups, so `GET map` reveals nothing beyond `GET
// data`.

/** Recent pilgrims are shown alone if they are at least this fraction of the last day's. */
const RECENT = 0.1
/** Steps of a count within a factor of ten, so that a cell changes less often than its people. */
const STEPS = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80]

interface CrowdOnMap {
  /** All pilgrims were seen then or later, epoch milliseconds. */
  readonly sinceMs: number
  /** Only pilgrims seen in the last hours are shown, not all of the last day. */
  readonly isRecent: boolean
  readonly people: number
  readonly cells: MapCellEntry[]
  readonly places: Places
}

export async function crowdOnMap(map: PublicMap): Promise<CrowdOnMap> {
  const { groups, beginsMs } = await map.snapshot()
  const recent = groups.filter(({ span }) => span === 0)
  const isRecent = recent.length > 0 && sumOf(recent) >= RECENT * sumOf(groups)
  const shown = isRecent ? recent : groups
  const counts = await inTurns(cellsOf(shown))
  const centres = counts.map(({ cell }) => cellCentre(cell))
  return {
    sinceMs: beginsMs[isRecent ? 0 : 1]!,
    isRecent,
    people: sumOf(shown),
    cells: counts.map(({ cell, count }) => entryOf(cell, count)).sort(byPlace),
    places: {
      lats: centres.map(({ lat }) => lat),
      lngs: centres.map(({ lng }) => lng),
      weights: counts.map(({ count }) => count),
    },
  }
}

interface Count {
  readonly cell: Cell
  count: number
}

const sumOf = (groups: readonly Group[]): number => groups.reduce((sum, { count }) => sum + count, 0)

/** The groups' cells at the finest zoom that has few enough of them. */
function* cellsOf(groups: readonly Group[]): Generator<void, readonly Count[]> {
  for (let zoom = FINEST_ZOOM; ; zoom--) {
    const counts = new Map<number, Count>()
    yield* eachOf(groups, ({ cell, count }) => {
      const shown = coarser(cell, zoom)
      counts.getOrInsertComputed(keyOf(shown), () => ({ cell: shown, count: 0 })).count += count
    })
    if (counts.size <= MAX_MAP_CELLS || zoom === MIN_ZOOM) return [...counts.values()]
  }
}

/** A unique number for each cell: 24 bits are enough for a row or column of the finest zoom. */
const keyOf = ({ zoom, x, y }: Cell): number => (zoom * 2 ** 24 + x) * 2 ** 24 + y

/** The cell of this zoom that contains a finer one; a coarser cell stays. */
function coarser(cell: Cell, zoom: number): Cell {
  const up = cell.zoom - zoom
  return up <= 0 ? cell : { zoom, x: cell.x >> up, y: cell.y >> up }
}

function entryOf(cell: Cell, count: number): MapCellEntry {
  const { lat, lng } = cellCentre(cell)
  return [Math.round(lat * 1e5), Math.round(lng * 1e5), cell.zoom, steppedCount(count)]
}

/** The count, exact up to 9 and rounded down to a step above. */
export function steppedCount(count: number): number {
  let unit = 1
  while (count >= unit * 100) unit *= 10
  return count < 10 ? count : unit * STEPS.findLast((step) => step * unit <= count)!
}

const byPlace = (a: MapCellEntry, b: MapCellEntry): number => a[2] - b[2] || a[0] - b[0] || a[1] - b[1]
