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
/** What the map shows is at most this old. */
const STALE_MS = 5_000
const OVERLAP_MS = 2_000
const PAGE = 5_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const SECRET_KEY = 'live-map-secret'
const SECRET_TTL_MS = 30 * DAY_MS

export interface LivePositions {
  start(): Promise<void>
  stop(): Promise<void>
  /** Latest positions, youngest first. @throws Refusal 503 when they are not current */
  read(query: DataQuery): Moved[]
  /** The name that the public sees in this hour instead of the pilgrim's id. */
  publicId(userId: string): string
}

export function createLivePositions(kv: Kv, now: () => number, log: Log): LivePositions {
  const positions = new Map<string, Moved>()
  let hidden = new Set<string>()
  /** Of erased people, by hash: those that this replica has forgotten. */
  const generations = new Map<string, number>()
  const through: number[] = Array.from({ length: kv.partitions }, () => 0)
  let secret = ''
  let refreshedMs = 0
  let sorted: Moved[] | null = null
  let timer: Timer | undefined
  let refreshing: Promise<void> | null = null

  const pull = async (partition: number): Promise<void> => {
    // Asked again on each refresh: what was written during the last one.
    let since = Math.max(0, through[partition]! - OVERLAP_MS)
    for (;;) {
      const page = await kv.moved(partition, since, PAGE)
      for (const moved of page) positions.set(moved.userId, moved)
      if (page.length > 0) sorted = null
      const last = page.at(-1)?.movedMs ?? since
      through[partition] = Math.max(through[partition]!, last)
      if (page.length < PAGE) return
      // A whole page of one millisecond must not be asked for ever.
      since = last === since ? last + 1 : last
    }
  }

  /** Who was erased leaves this replica's memory too, once for each time. */
  const forgetErased = async (): Promise<void> => {
    const all = (await Promise.all(through.map((_, partition) => kv.erased(partition)))).flat()
    const fresh = all.filter(({ userHash: hash, generation }) => (generations.get(hash) ?? 0) < generation)
    if (fresh.length === 0) return
    for (const { userHash: hash, generation } of fresh) generations.set(hash, generation)
    const gone = new Set(fresh.map(({ userHash: hash }) => hash))
    for (const userId of positions.keys()) if (gone.has(userHash(userId))) positions.delete(userId)
    sorted = null
  }

  const refresh = async (): Promise<void> => {
    try {
      if (secret === '') secret = await kv.cacheOnce(SECRET_KEY, crypto.randomUUID(), SECRET_TTL_MS)
      const off = await Promise.all(through.map((_, partition) => kv.hidden(partition)))
      hidden = new Set(off.flat())
      await forgetErased()
      await Promise.all(through.map((_, partition) => pull(partition)))
      refreshedMs = now()
    } catch (error) {
      if (!kvIsAway(error)) log.error('the live map is not refreshed', errorFields(error))
    }
  }

  const tick = (): Promise<void> => (refreshing ??= refresh().finally(() => (refreshing = null)))

  return {
    async start() {
      await tick()
      timer = setInterval(() => void tick(), REFRESH_MS)
    },
    async stop() {
      clearInterval(timer)
      await refreshing
    },
    read({ limit, since, bbox }) {
      if (now() - refreshedMs > STALE_MS)
        throw unavailable('The live positions are not current just now: please try again in a moment.')
      sorted ??= [...positions.values()].sort((a, b) => b.t - a.t)
      const sinceMs = since ?? now() - DAY_MS
      const found: Moved[] = []
      for (const position of sorted) {
        if (position.t < sinceMs || found.length === limit) break
        if (hidden.has(position.userId)) continue
        if (bbox === undefined || inside(position, bbox)) found.push(position)
      }
      return found
    },
    publicId: (userId) =>
      createHmac('sha256', secret)
        .update(`${Math.floor(now() / HOUR_MS)}:${userId}`)
        .digest('base64url')
        .slice(0, 16),
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
