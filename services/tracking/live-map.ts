/**
 * The live map: each replica keeps the latest positions in memory and asks the kv only for what has moved,
 * so that a crowd of readers costs the kv nothing.
 */
import { createHmac } from 'node:crypto'
import type { BoundingBox, DataQuery } from '#shared/contracts/tracking.ts'
import { unavailable } from '#shared/http/errors.ts'
import { type Kv, isKvUnavailable, type Moved, userHash } from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/runtime/log.ts'

const REFRESH_MS = 1_500
/** Positions older than this are not shown. An answer is kept for another second: 5 s in all. */
const STALE_MS = 4_000
/** Asked for once more on each refresh: the kv's clock may be put back a little. */
const OVERLAP_MS = 250
const PAGE = 5_000
/** Ids of names that are kept at most; 100 bytes each. */
const MAX_NAMES = 200_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const SECRET_KEY = 'live-map-secret'
const SECRET_TTL_MS = 30 * DAY_MS

/** Keeps the latest position of everyone in memory. */
export class LivePositions {
  readonly #positions = new Map<string, Moved>()
  /** Per partition, how far this replica has read (the kv's clock). */
  readonly #through: number[]
  /** Of erased people, by hash: those that this replica has forgotten. */
  readonly #generations = new Map<string, number>()
  #hidden = new Set<string>()
  #secret = ''
  #refreshedMs = 0
  #version = 0
  /** Youngest first. What has moved since waits until somebody asks. */
  #sorted: readonly Moved[] = []
  #moved: Moved[] = []
  /** Positions that are nobody's latest any more. */
  readonly #left = new Set<Moved>()
  /** Ids of this hour, by what they stand for; a memory only. */
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

  /** Latest positions, youngest first. @throws Refusal 503 when they are not current */
  read({ limit, since, bbox }: DataQuery): Moved[] {
    const sinceMs = since ?? this.now() - DAY_MS
    const found: Moved[] = []
    for (const position of this.#current()) {
      if (position.t < sinceMs || found.length === limit) break
      if (this.#hidden.has(position.userId)) continue
      if (bbox === undefined || inside(position, bbox)) found.push(position)
    }
    return found
  }

  /** Everybody who may be seen, whenever that was; youngest first. @throws Refusal 503 when they are not current */
  shown(): Moved[] {
    return this.#current().filter(({ userId }) => !this.#hidden.has(userId))
  }

  /** Of the present state: another one after each refresh. */
  get version(): number {
    return this.#version
  }

  #current(): readonly Moved[] {
    if (this.now() - this.#refreshedMs > STALE_MS)
      throw unavailable('The live positions are not current just now: please try again in a moment.')
    this.#order()
    return this.#sorted
  }

  /** Positions in memory, those among them that are nobody's latest any more; at most two a pilgrim. */
  held(): number {
    return this.#sorted.length + this.#moved.length
  }

  /** The id of this hour that stands for a name, such as a pilgrim's id, and does not tell it. */
  publicId(name: string): string {
    const hour = Math.floor(this.now() / HOUR_MS)
    if (hour !== this.#namesHour || this.#names.size >= MAX_NAMES) this.#names.clear()
    this.#namesHour = hour
    return this.#names.getOrInsertComputed(name, () =>
      createHmac('sha256', this.#secret).update(`${hour}:${name}`).digest('base64url').slice(0, 16),
    )
  }

  /** Brings what has moved into the order: everybody else is in it already. */
  #order(): void {
    if (this.#moved.length === 0 && this.#left.size === 0) return
    const isLatest = (position: Moved) => !this.#left.has(position)
    this.#sorted = merged(
      this.#sorted.filter(isLatest),
      this.#moved.filter(isLatest).sort((a, b) => b.t - a.t),
    )
    this.#moved = []
    this.#left.clear()
  }

  #place(moved: Moved): void {
    const held = this.#positions.get(moved.userId)
    // The last refresh is asked for once more, so much of what comes is known.
    if (held?.t === moved.t && held.lat === moved.lat && held.lng === moved.lng) return
    if (held !== undefined) this.#left.add(held)
    this.#positions.set(moved.userId, moved)
    this.#moved.push(moved)
  }

  /** Asks for what has moved; one time at a time. */
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
      const off = await this.#everywhere((partition) => this.kv.hidden(partition))
      this.#hidden = new Set(off.flat())
      await this.#forgetErased()
      await this.#everywhere((partition) => this.#pull(partition))
      // Where nobody asks, what has moved must not pile up.
      if (this.#moved.length > this.#positions.size) this.#order()
      this.#refreshedMs = startedMs
      this.#version++
    } catch (error) {
      if (!isKvUnavailable(error)) this.log.error('the live map is not refreshed', errorFields(error))
    }
  }

  #everywhere<T>(ask: (partition: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#through.map((_, partition) => ask(partition)))
  }

  async #pull(partition: number): Promise<void> {
    let since = Math.max(0, this.#through[partition]! - OVERLAP_MS)
    for (;;) {
      const page = await this.kv.moved(partition, since, PAGE)
      for (const moved of page) this.#place(moved)
      const last = page.at(-1)?.movedMs ?? since
      this.#through[partition] = Math.max(this.#through[partition]!, last)
      if (page.length < PAGE) return
      // A whole page of one millisecond must not be asked for ever.
      since = last === since ? last + 1 : last
    }
  }

  /** Who was erased leaves this replica's memory too, once for each time. */
  async #forgetErased(): Promise<void> {
    const all = (await this.#everywhere((partition) => this.kv.erased(partition))).flat()
    const fresh = all.filter(
      ({ userHash: hash, generation }) => (this.#generations.get(hash) ?? 0) < generation,
    )
    if (fresh.length === 0) return
    for (const { userHash: hash, generation } of fresh) this.#generations.set(hash, generation)
    const gone = new Set(fresh.map(({ userHash: hash }) => hash))
    for (const [userId, position] of this.#positions)
      if (gone.has(userHash(userId))) {
        this.#positions.delete(userId)
        this.#left.add(position)
      }
  }
}

/** Two lists, youngest first, as one. */
function merged(old: readonly Moved[], moved: readonly Moved[]): readonly Moved[] {
  if (moved.length === 0) return old
  const all: Moved[] = []
  let next = 0
  for (const position of old) {
    while (next < moved.length && moved[next]!.t >= position.t) all.push(moved[next++]!)
    all.push(position)
  }
  return [...all, ...moved.slice(next)]
}

/** Whether a place lies in a box, edges included. */
export const inside = (
  { lat, lng }: { readonly lat: number; readonly lng: number },
  [west, south, east, north]: BoundingBox,
): boolean => lat >= south && lat <= north && lng >= west && lng <= east
