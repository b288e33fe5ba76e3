/**
 * The live map: each replica keeps the latest positions in memory and asks the kv only for what has moved,
 * so that a crowd of readers costs the kv nothing.
 */
import { createHmac } from 'node:crypto'
import { time } from '#shared/contracts/fields.ts'
import type { DataQuery, LiveMap, LivePosition } from '#shared/contracts/tracking.ts'
import { unavailable } from '#shared/errors.ts'
import { type Kv, kvIsAway, type Moved, userHash } from '#shared/kv/kv.ts'
import { errorFields, type Log } from '#shared/log.ts'

const REFRESH_MS = 2_000
/** Positions older than this are not shown. An answer is kept for another second: 5 s in all. */
const STALE_MS = 4_000
const OVERLAP_MS = 2_000
const PAGE = 5_000
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
  /** Youngest first; made when somebody asks. */
  #sorted: Moved[] | null = null
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
    await this.#tick()
    this.#timer = setInterval(() => void this.#tick(), REFRESH_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#refreshing
  }

  /** Latest positions, youngest first. @throws Refusal 503 when they are not current */
  read({ limit, since, bbox }: DataQuery): Moved[] {
    if (this.now() - this.#refreshedMs > STALE_MS)
      throw unavailable('The live positions are not current just now: please try again in a moment.')
    this.#sorted ??= [...this.#positions.values()].sort((a, b) => b.t - a.t)
    const sinceMs = since ?? this.now() - DAY_MS
    const found: Moved[] = []
    for (const position of this.#sorted) {
      if (position.t < sinceMs || found.length === limit) break
      if (this.#hidden.has(position.userId)) continue
      if (bbox === undefined || inside(position, bbox)) found.push(position)
    }
    return found
  }

  /** The name that the public sees in this hour instead of the pilgrim's id. */
  publicId(userId: string): string {
    return createHmac('sha256', this.#secret)
      .update(`${Math.floor(this.now() / HOUR_MS)}:${userId}`)
      .digest('base64url')
      .slice(0, 16)
  }

  #tick(): Promise<void> {
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
      this.#refreshedMs = startedMs
    } catch (error) {
      if (!kvIsAway(error)) this.log.error('the live map is not refreshed', errorFields(error))
    }
  }

  #everywhere<T>(ask: (partition: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#through.map((_, partition) => ask(partition)))
  }

  async #pull(partition: number): Promise<void> {
    // Asked again on each refresh: what was written during the last one.
    let since = Math.max(0, this.#through[partition]! - OVERLAP_MS)
    for (;;) {
      const page = await this.kv.moved(partition, since, PAGE)
      for (const moved of page) this.#positions.set(moved.userId, moved)
      if (page.length > 0) this.#sorted = null
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
    for (const userId of this.#positions.keys())
      if (gone.has(userHash(userId))) this.#positions.delete(userId)
    this.#sorted = null
  }
}

const inside = ({ lat, lng }: Moved, [west, south, east, north]: NonNullable<DataQuery['bbox']>): boolean =>
  lat >= south && lat <= north && lng >= west && lng <= east

/** What the public sees, or an operator: the latter with ids and names. */
export function liveMap(
  live: LivePositions,
  query: DataQuery,
  generatedMs: number,
  names: ReadonlyMap<string, string | null> | null,
): LiveMap {
  const points = live.read(query).map(({ userId, lat, lng, t }): LivePosition => {
    const shown = { id: live.publicId(userId), lat, lng, recorded_at: time(t) }
    return names === null ? shown : { ...shown, userId, display_name: names.get(userId) ?? null }
  })
  return { points, generated_at: time(generatedMs) }
}
