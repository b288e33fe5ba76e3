/**
 * The live map. Each replica caches the latest positions in memory and reads only positions that have changed from the
 * kv, so the load on the kv does not depend on the number of readers.
 */
import { createHmac } from 'node:crypto'
import type { BoundingBox, DataQuery } from '#shared/contracts/tracking.ts'
import { unavailable } from '#shared/http/errors.ts'
import { type Kv, isKvUnavailable, type Moved, userHash } from '#shared/kv/kv.ts'
import { filtered, inTurns, merged, sorted } from '#shared/runtime/in-turns.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

const REFRESH_MS = 1_500
/** Positions that were refreshed longer ago are not served. An answer is cached for another second: 5 s in all. */
const STALE_MS = 4_000
/** Each refresh reads this span again, because the kv's clock may be set back a little. */
const OVERLAP_MS = 250
const PAGE = 5_000
/** Most public ids that are cached; 100 bytes each. */
const MAX_NAMES = 200_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const SECRET_KEY = 'live-map-secret'
const SECRET_TTL_MS = 30 * DAY_MS

/** Caches the latest position of everyone in memory. */
export class LivePositions {
  readonly #positions = new Map<string, Moved>()
  /** Their user ids by hash: hashing everybody at an erasure would hold up check-ins. */
  readonly #userIds = new Map<string, string>()
  /** Per partition, how far this replica has read (the kv's clock). */
  readonly #through: number[]
  /** Generations of the erased people whom this replica has removed, by hash. */
  readonly #generations = new Map<string, number>()
  #secret = ''
  #refreshedMs = 0
  #version = 0
  /** Latest first. Never changed in place: readers look through it in turns of the event loop. */
  #sorted: readonly Moved[] = []
  /** Positions that this refresh has read. */
  #moved: Moved[] = []
  /** Positions that it has replaced by a later one. */
  readonly #replaced = new Set<Moved>()
  /** Cache of this hour's public ids, by name. */
  readonly #names = new Map<string, string>()
  #namesHour = 0
  #timer: Timer | undefined
  #refreshing: Promise<void> | null = null

  constructor(
    private readonly kv: Kv,
    private readonly now: () => number,
    private readonly log: Log,
  ) {
    this.#through = Array.from({ length: kv.partitions }, () => 0)
  }

  async start(): Promise<void> {
    await this.refresh()
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#refreshing
  }

  /** Latest positions, latest first. @throws Refusal 503 when they are out of date */
  async read({ limit, since, bbox }: DataQuery): Promise<Moved[]> {
    this.expectCurrent()
    const sinceMs = since ?? this.now() - DAY_MS
    const isAsked = (position: Moved) =>
      position.t >= sinceMs && (bbox === undefined || inside(position, bbox))
    return inTurns(this.shown(isAsked, limit))
  }

  /** Positions of everybody who is not hidden, of any age, latest first. Computed in turns of the event loop. */
  *shown(isAsked: (position: Moved) => boolean = () => true, limit?: number): Generator<void, Moved[]> {
    const nowMs = this.now()
    const isShown = (position: Moved) => position.hiddenUntilMs <= nowMs && isAsked(position)
    return yield* filtered(this.#sorted, isShown, limit)
  }

  /** Version of the positions; it changes with each refresh. */
  get version(): number {
    return this.#version
  }

  /** @throws Refusal 503 when the positions are out of date */
  expectCurrent(): void {
    if (this.now() - this.#refreshedMs > STALE_MS)
      throw unavailable('The live positions are out of date right now. Please try again in a moment.')
  }

  /** Number of positions in memory. */
  held(): number {
    return this.#sorted.length
  }

  /** This hour's id for a name, such as a pilgrim's id. The name can not be derived from it. */
  publicId(name: string): string {
    const hour = Math.floor(this.now() / HOUR_MS)
    if (hour !== this.#namesHour || this.#names.size >= MAX_NAMES) this.#names.clear()
    this.#namesHour = hour
    return this.#names.getOrInsertComputed(name, () =>
      createHmac('sha256', this.#secret).update(`${hour}:${name}`).digest('base64url').slice(0, 16),
    )
  }

  /** Merges changed positions into the sorted list. */
  *#order(): Generator<void, void> {
    if (this.#moved.length === 0 && this.#replaced.size === 0) return
    const isLatest = (position: Moved) => !this.#replaced.has(position)
    const kept = yield* filtered(this.#sorted, isLatest)
    const moved = yield* sorted(this.#moved.filter(isLatest), latestFirst)
    this.#sorted = yield* merged(kept, moved, latestFirst)
    this.#moved = []
    this.#replaced.clear()
  }

  #place(moved: Moved): void {
    const held = this.#positions.get(moved.userId)
    // Refreshes overlap, so many of these positions are known.
    if (held !== undefined && KEPT.every((field) => held[field] === moved[field])) return
    if (held === undefined) this.#userIds.set(userHash(moved.userId), moved.userId)
    else this.#replaced.add(held)
    this.#positions.set(moved.userId, moved)
    this.#moved.push(moved)
  }

  /** Reads the changed positions. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refresh(): Promise<void> {
    const startedMs = this.now()
    try {
      if (this.#secret === '')
        this.#secret = await this.kv.cacheOnce(SECRET_KEY, crypto.randomUUID(), SECRET_TTL_MS)
      await this.#forgetErased()
      await this.#allPartitions((partition) => this.#pull(partition))
      await inTurns(this.#order())
      this.#refreshedMs = startedMs
      this.#version++
    } catch (error) {
      if (!isKvUnavailable(error)) this.log.error('refreshing the live map failed', errorFields(error))
    }
  }

  #allPartitions<T>(read: (partition: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#through.map((_, partition) => read(partition)))
  }

  async #pull(partition: number): Promise<void> {
    let since = Math.max(0, this.#through[partition]! - OVERLAP_MS)
    for (;;) {
      const page = await this.kv.moved(partition, since, PAGE)
      for (const moved of page) this.#place(moved)
      const last = page.at(-1)?.movedMs ?? since
      this.#through[partition] = Math.max(this.#through[partition]!, last)
      if (page.length < PAGE) return
      // A full page within one millisecond must not be read again for ever.
      since = last === since ? last + 1 : last
    }
  }

  /** Removes erased people from this replica's memory, once per erasure. */
  async #forgetErased(): Promise<void> {
    const all = (await this.#allPartitions((partition) => this.kv.erased(partition))).flat()
    for (const { userHash: hash, generation } of all) {
      if ((this.#generations.get(hash) ?? 0) >= generation) continue
      this.#generations.set(hash, generation)
      const userId = this.#userIds.get(hash)
      if (userId === undefined) continue
      this.#replaced.add(this.#positions.get(userId)!)
      this.#positions.delete(userId)
      this.#userIds.delete(hash)
    }
  }
}

/** What a position that is read again has in common with the one that is held. */
const KEPT = ['t', 'lat', 'lng', 'hiddenUntilMs'] as const

const latestFirst = (a: Moved, b: Moved): number => b.t - a.t

/** Whether a place lies in a box, edges included. Degrees. */
export const inside = (
  { lat, lng }: { readonly lat: number; readonly lng: number },
  [west, south, east, north]: BoundingBox,
): boolean => lat >= south && lat <= north && lng >= west && lng <= east
