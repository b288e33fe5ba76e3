/**
 * The live map without a token: how many people are where, and not who. A point stands for one of at least
 * `EVENT_MAP_CROWD` people whom nothing on the map tells apart: they share its place, its minute and the way its id
 * is made. Every question (`since`, `bbox`, `limit`) picks from the same picture, so the answers to two questions
 * together tell no more than the picture does.
 */
import type { DataQuery, LivePosition } from '#shared/contracts/tracking.ts'
import { time } from '#shared/contracts/fields.ts'
import { cellAt, cellCentre, cellName, MAX_ZOOM } from '#shared/map/cells.ts'
import { gatherCrowds } from '#shared/map/crowds.ts'
import type { Moved } from '#shared/kv/kv.ts'
import { inside, type LivePositions } from './live-map.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Points of the map that differ in nothing but their ids. */
interface Stand {
  readonly lat: number
  readonly lng: number
  readonly minuteMs: number
  readonly count: number
  /** What the ids are made of: no user id, where a crowd is asked for. */
  readonly name: (index: number) => string
}

const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/** The map as the public sees it. */
export class PublicMap {
  #stands: readonly Stand[] = []
  /** Of which state of the positions, and of which hour, the picture is. */
  #madeOf = ''

  /** @param crowd least number of people at a place; 1: everybody by themselves, with an id of their own */
  constructor(
    private readonly live: LivePositions,
    private readonly crowd: number,
    private readonly now: () => number,
  ) {}

  /** Points, the latest minute first. @throws Refusal 503 when the positions are not current */
  read({ limit, since, bbox }: DataQuery): LivePosition[] {
    const stands = this.#current()
    const sinceMs = minute(since ?? this.#dayBegins())
    const points: LivePosition[] = []
    for (const stand of stands) {
      if (stand.minuteMs < sinceMs) break
      if (bbox !== undefined && !inside(stand, bbox)) continue
      const { lat, lng, minuteMs } = stand
      for (const id of this.#idsOf(stand)) {
        if (points.length === limit) return points
        points.push({ id, lat, lng, recorded_at: time(minuteMs) })
      }
    }
    return points
  }

  /** In an order that means nothing and is another one each hour. */
  #idsOf({ count, name }: Stand): string[] {
    return Array.from({ length: count }, (_, i) => this.live.publicId(name(i))).sort()
  }

  /** Crowds leave the map together, at a full hour: one that left alone, a day after a last step, would be told by it. */
  #dayBegins(): number {
    return (this.crowd === 1 ? this.now() : this.#hour()) - DAY_MS
  }

  #hour(): number {
    return Math.floor(this.now() / HOUR_MS) * HOUR_MS
  }

  /** Made once for each state of the positions, however many ask. */
  #current(): readonly Stand[] {
    const people = this.live.shown()
    const madeOf = `${this.live.version} ${this.#hour()}`
    if (madeOf !== this.#madeOf) {
      const stands = this.crowd === 1 ? people.map(standAlone) : this.#crowded(people)
      this.#stands = stands.sort((a, b) => b.minuteMs - a.minuteMs)
      this.#madeOf = madeOf
    }
    return this.#stands
  }

  /**
   * Who has walked lately gathers with those who have, and who has not been seen for a day with those who have not:
   * a phone that was switched off would make everybody around it look as old. The spans change at full hours only.
   */
  #crowded(people: readonly Moved[]): Stand[] {
    const begins = [this.#hour() - HOUR_MS, this.#hour() - DAY_MS, -Infinity]
    const spans = Map.groupBy(people, ({ t }) => begins.findIndex((ms) => t >= ms))
    return Array.from(spans).flatMap(([span, within]) =>
      gatherCrowds(within, this.crowd).map(({ cell, count, sinceMs }) => ({
        ...cellCentre(cell),
        minuteMs: minute(sinceMs),
        count,
        // Ids of the place, counted through: who leaves it leaves the id behind.
        name: (index) => `${span}/${cellName(cell)}/${index}`,
      })),
    )
  }
}

const standAlone = ({ userId, lat, lng, t }: Moved): Stand => ({
  ...cellCentre(cellAt(lat, lng, MAX_ZOOM)),
  minuteMs: minute(t),
  count: 1,
  name: () => userId,
})
