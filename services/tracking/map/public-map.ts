/**
 * The live map without a token: how many people are where, without identities. A point is one of at least
 * `EVENT_MAP_CROWD` people whom the map does not distinguish: they share its place, its minute and the scheme of its
 * id. Every query (`since`, `bbox`, `limit`) selects from the same snapshot, so the answers to two queries together
 * reveal no more than the snapshot does.
 */
import type { DataQuery, LivePosition } from '#shared/contracts/tracking.ts'
import { time } from '#shared/contracts/fields.ts'
import { type Cell, cellAt, cellCentre, cellName, MAX_ZOOM } from '#shared/map/cells.ts'
import { groupIntoCrowds } from './crowds.ts'
import type { Moved } from '#shared/kv/kv.ts'
import { eachOf, inTurns, sorted } from '#shared/runtime/in-turns.ts'
import { inside, type LivePositions } from './live-map.ts'

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
  /** The text that an id is derived from. It contains no user id unless `crowd` is 1. */
  readonly name: (index: number) => string
}

const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/** The public map. */
export class PublicMap {
  #groups: Promise<readonly Group[]> = Promise.resolve([])
  /** Version of the positions, and hour, that the groups are computed from. */
  #computedFrom = ''

  /** @param crowd least number of people at a place; 1: each person is shown separately, with an id of their own */
  constructor(
    private readonly live: LivePositions,
    private readonly crowd: number,
    private readonly now: () => number,
  ) {}

  /** Points, the latest minute first. @throws Refusal 503 when the positions are out of date */
  async read({ limit, since, bbox }: DataQuery): Promise<LivePosition[]> {
    const groups = await this.#current()
    const sinceMs = minute(Math.max(since ?? 0, this.#dayStart()))
    const points: LivePosition[] = []
    for (const group of groups) {
      if (group.minuteMs < sinceMs) break
      if (bbox !== undefined && !inside(group, bbox)) continue
      const { lat, lng, minuteMs } = group
      const recorded_at = time(minuteMs)
      for (const id of this.#idsOf(group, limit - points.length)) points.push({ id, lat, lng, recorded_at })
      if (points.length === limit) return points
    }
    return points
  }

  /** The groups, the latest minute first, and when their spans begin. @throws Refusal 503 when the positions are out of date */
  async snapshot(): Promise<{ readonly groups: readonly Group[]; readonly beginsMs: readonly number[] }> {
    const beginsMs = this.#spanBegins()
    return { groups: await this.#current(), beginsMs }
  }

  /** The first ids of a place, at most so many. They are numbered by place, so their order tells nothing of anybody. */
  #idsOf({ count, name }: Group, atMost: number): string[] {
    return Array.from({ length: Math.min(count, atMost) }, (_, i) => this.live.publicId(name(i)))
  }

  /** Start of the day shown. Crowds leave the map together, at a full hour: a person who left alone could be recognised. */
  #dayStart(): number {
    return (this.crowd === 1 ? this.now() : this.#hour()) - DAY_MS
  }

  #hour(): number {
    return Math.floor(this.now() / HOUR_MS) * HOUR_MS
  }

  /** The groups, computed once for each version of the positions, however many clients read them. */
  #current(): Promise<readonly Group[]> {
    this.live.expectCurrent()
    const computedFrom = `${this.live.version} ${this.#hour()}`
    if (computedFrom !== this.#computedFrom) {
      this.#computedFrom = computedFrom
      this.#groups = inTurns(this.#group())
    }
    return this.#groups
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
    const spans: Moved[][] = begins.map(() => [])
    const ofDay = yield* this.live.shown(({ t }) => t >= begins.at(-1)!)
    yield* eachOf(ofDay, (one) => spans[begins.findIndex((ms) => one.t >= ms)]!.push(one))
    const groups: Group[] = []
    for (const [span, people] of spans.entries()) {
      if (this.crowd === 1) yield* eachOf(people, (one) => groups.push(groupOfOne(one, span)))
      else
        yield* eachOf(yield* groupIntoCrowds(people, this.crowd), ({ cell, count, sinceMs }) =>
          groups.push({
            ...cellCentre(cell),
            minuteMs: minute(sinceMs),
            count,
            cell,
            span,
            // Ids are numbered per place, so a person who leaves the place also leaves the id.
            name: (index) => `${span}/${cellName(cell)}/${index}`,
          }),
        )
    }
    return yield* sorted(groups, (a, b) => b.minuteMs - a.minuteMs)
  }
}

const groupOfOne = ({ userId, lat, lng, t }: Moved, span: number): Group => {
  const cell = cellAt(lat, lng, MAX_ZOOM)
  return { ...cellCentre(cell), minuteMs: minute(t), count: 1, cell, span, name: () => userId }
}
