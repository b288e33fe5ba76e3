/**
 * The live map without a token: how many people are where, without identities. A point is one of at least
 * `EVENT_MAP_CROWD` people whom the map does not distinguish: they share its place, its minute and the scheme of its
 * id. Every query (`since`, `bbox`, `limit`) selects from the same snapshot, so the answers to two queries together
 * reveal no more than the snapshot does.
 */
import type { DataQuery, LivePosition } from '#shared/contracts/tracking.ts'
import { time } from '#shared/contracts/fields.ts'
import { type Cell, cellCentre, cellName, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { groupIntoCrowds } from './crowds.ts'
import { eachOf, inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import { inside, type LivePositions, type Place } from './latest-positions.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A group of points that differ only in their ids. */
export interface Group {
  readonly lat: number
  readonly lng: number
  readonly minuteMs: number
  readonly count: number
  readonly cell: Cell
  /** 0: seen in this hour or the one before; 1: in the last day. */
  readonly span: number
  /** Whose place it is, where `crowd` is 1; else null. */
  readonly userId: string | null
}

const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

export class PublicMap {
  #groups: readonly Group[] = []
  /** Version of the positions, and hour, that the groups are computed from. */
  #version = -1
  #groupsHour = 0
  #computing: Promise<void> | null = null

  /** @param crowd least number of people at a place; 1: each person is shown separately, with an id of their own */
  constructor(
    private readonly live: LivePositions,
    private readonly crowd: number,
    private readonly now: () => number,
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
   * The groups, the latest minute first, and when their spans begin.
   * @throws Refusal 503 when the positions are out of date
   */
  async snapshot(): Promise<{ readonly groups: readonly Group[]; readonly beginsMs: readonly number[] }> {
    const beginsMs = this.#spanBegins()
    return { groups: await this.#current(), beginsMs }
  }

  /** Where the palanquin is, exactly: it is public, and no crowd hides it. null: it was not seen for a day. */
  palanquin(userId: string): Place | null {
    const place = this.live.placeOf(userId)
    return place === null || place.t < this.now() - DAY_MS ? null : place
  }

  /**
   * The first ids of a place, at most so many. Numbered by place, they tell no order, and who leaves it leaves the id.
   */
  #idsOf({ count, userId, span, cell }: Group, atMost: number): string[] {
    return Array.from({ length: Math.min(count, atMost) }, (_, i) =>
      this.live.publicId(userId ?? `${span}/${cellName(cell)}/${i}`),
    )
  }

  /**
   * Start of the day shown. Crowds leave the map together, at a full hour: a person who left alone could be recognised.
   */
  #dayStart(): number {
    return (this.crowd === 1 ? this.now() : this.#hour()) - DAY_MS
  }

  #hour(): number {
    return Math.floor(this.now() / HOUR_MS) * HOUR_MS
  }

  /** The groups of now: computed once for each version of the positions, one version at a time, for all readers. */
  async #current(): Promise<readonly Group[]> {
    this.live.expectCurrent()
    const { version } = this.live
    // Also an earlier hour, when the clock was set back.
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
   * Groups people by when they were last seen: the last hours, the last day. Otherwise one phone that was switched off
   * would make everybody around it appear as old. The time spans change at full hours only. Nobody is shown for longer.
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
    }))
    yield* this.live.shown((row, { xs, ys, times, userIds }) => {
      const t = times[row]!
      const span = begins.findIndex((ms) => t >= ms)
      if (span === -1) return
      if (this.crowd === 1)
        return add(span, { zoom: MAX_ZOOM, x: xs[row]!, y: ys[row]! }, 1, t, userIds[row]!)
      const people = spans[span]!
      // Who comes while the others are counted has a place in the next version.
      if (people.count === room) return
      people.xs[people.count] = xs[row]!
      people.ys[people.count] = ys[row]!
      people.times[people.count++] = t
    })
    for (const [span, people] of spans.entries())
      yield* eachOf(yield* groupIntoCrowds(people, this.crowd), ({ cell, count, sinceMs }) =>
        add(span, cell, count, sinceMs, null),
      )
    return [...byMinute].sort(([a], [b]) => b - a).flatMap(([, groups]) => groups)
  }
}
