/**
 * The live map: the latest positions, cached in memory. Each replica reads only positions that have changed from the
 * kv, so the load on the kv does not depend on the number of readers.
 */
import type { BoundingBox, DataQuery } from '#shared/contracts/tracking.ts'
import { type MachineClock, never, type StartStopwatch, stopwatch } from '#shared/runtime/clock.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import {
  type Moved,
  partitionOf,
  userHash,
  type KvErasures,
  type KvKeys,
  type KvPresence,
  type KvServer,
} from '#shared/stores/kv/kv.ts'
import { keptTimes } from '#shared/points/old-positions.ts'
import { eachOf, inTurns } from '#shared/runtime/yield-to-event-loop.ts'
import type { Log } from '#shared/runtime/log.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import { cellAt, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { CLAIM_MEASURES } from '#shared/core/rules/claim-measures.ts'

const HASH_DIGITS = 13
/** The part of a hash (`userHash`) that `hashes` contains: its first digits, as a number. */
const beginningOf = (hash: string): number => parseInt(hash.slice(0, HASH_DIGITS), 16)

/** A place as the public map groups it: the finest cell, and the pilgrim's time there (epoch milliseconds). */
interface PublicPlace {
  readonly x: number
  readonly y: number
  readonly t: number
}

/** The latest positions in columns: half a million objects would make the garbage collector stop this process. */
class PositionColumns {
  /** Ids by row, as in all columns; empty for a removed pilgrim. */
  readonly userIds: string[] = []
  readonly hashes: number[] = []
  /** Degrees. */
  readonly lats: number[] = []
  readonly lngs: number[] = []
  /** Column and row of the finest cell. */
  readonly xs: number[] = []
  readonly ys: number[] = []
  /** The pilgrim's time there, epoch milliseconds. */
  readonly times: number[] = []
  /** The map shows the position from this time. */
  readonly hiddenUntil: number[] = []
  readonly claims: boolean[] = []
  /** Until this time the public map shows the previous place. */
  readonly #heldUntil: number[] = []
  readonly #heldXs: number[] = []
  readonly #heldYs: number[] = []
  readonly #heldTimes: number[] = []
  readonly #rows = new Map<string, number>()
  /** Empty rows. */
  readonly #free: number[] = []

  get size(): number {
    return this.#rows.size
  }

  /**
   * @param holdUntilMs until when the public map shows the previous place; 0: not at all
   * @returns whether it was not known yet
   */
  set({ userId, lat, lng, t, hiddenUntilMs }: Moved, isClaim: boolean, holdUntilMs: number): boolean {
    const known = this.#rows.get(userId)
    if (
      known !== undefined &&
      this.times[known] === t &&
      this.lats[known] === lat &&
      this.lngs[known] === lng &&
      this.hiddenUntil[known] === hiddenUntilMs
    )
      return false
    const row = known ?? this.#free.pop() ?? this.userIds.length
    if (known === undefined) {
      this.#rows.set(userId, row)
      this.userIds[row] = userId
      this.hashes[row] = beginningOf(userHash(userId))
      this.claims[row] = isClaim
    }
    if (known === undefined) this.#hold(row, 0, { x: 0, y: 0, t: 0 })
    else if (holdUntilMs > this.#heldUntil[row]!)
      this.#hold(row, holdUntilMs, { x: this.xs[row]!, y: this.ys[row]!, t: this.times[row]! })
    const { x, y } = cellAt(lat, lng, MAX_ZOOM)
    this.lats[row] = lat
    this.lngs[row] = lng
    this.xs[row] = x
    this.ys[row] = y
    this.times[row] = t
    this.hiddenUntil[row] = hiddenUntilMs
    return true
  }

  rowOf(userId: string): number | undefined {
    return this.#rows.get(userId)
  }

  at(row: number): Place {
    return { userId: this.userIds[row]!, lat: this.lats[row]!, lng: this.lngs[row]!, t: this.times[row]! }
  }

  /** The place that the public map shows: the held one, if any. */
  publicAt(row: number, nowMs: number): PublicPlace {
    return this.#heldUntil[row]! > nowMs
      ? { x: this.#heldXs[row]!, y: this.#heldYs[row]!, t: this.#heldTimes[row]! }
      : { x: this.xs[row]!, y: this.ys[row]!, t: this.times[row]! }
  }

  #hold(row: number, untilMs: number, { x, y, t }: PublicPlace): void {
    this.#heldUntil[row] = untilMs
    this.#heldXs[row] = x
    this.#heldYs[row] = y
    this.#heldTimes[row] = t
  }

  delete(userId: string): void {
    const row = this.#rows.get(userId)
    if (row === undefined) return
    this.#rows.delete(userId)
    this.#free.push(row)
    this.userIds[row] = ''
    this.lats[row] = this.lngs[row] = this.xs[row] = this.ys[row] = this.times[row] = 0
    this.hiddenUntil[row] = Infinity
    this.#hold(row, 0, { x: 0, y: 0, t: 0 })
  }
}

const REFRESH_MS = 1_500
/** Positions that were refreshed longer ago are not served. An answer is cached for another second: 5 s in all. */
const STALE_MS = 4_000
/** Each refresh reads this span again: after a failover, the clock of the new server may be behind a little. */
const OVERLAP_MS = 250
/** How often positions that the kv has dropped are removed from memory. */
const FORGET_MS = 60_000
const PAGE = 2_000
/** Positions are grouped by this time, so that few are sorted. */
const BUCKET_MS = 10_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const SECRET_KEY = 'live-map-secret'
const SECRET_TTL_MS = 30 * DAY_MS

/** A pilgrim's last place and its time (epoch milliseconds). */
export type Place = Pick<Moved, 'userId' | 'lat' | 'lng' | 't'>

/** A single table of half a million people would block this process for a tenth of a second each time it doubles. */
const SHARDS = 64

export class LivePositions {
  readonly #shards = Array.from({ length: SHARDS }, () => new PositionColumns())
  /** Per partition, the latest `movedMs` that this replica has read. */
  readonly #through: number[]
  /** Per partition, the last erasure that this replica has read. */
  readonly #erasedThrough: number[]
  /** A reusable key: creating one costs more than signing a name. */
  #signer: Bun.CryptoHasher | undefined
  /** Time since the last refresh began. */
  #age = never
  #version = 0
  /** Whether this refresh has changed anything. */
  #hasChanged = false
  readonly #refreshing: Repeated
  readonly #forgetting: Repeated

  constructor(
    private readonly kv: KvPresence & KvErasures & KvKeys & KvServer,
    private readonly now: MachineClock,
    log: Log,
    private readonly timing: StartStopwatch = stopwatch,
    /**
     * Whether anyone may send places in a pilgrim's name, so that `CLAIM_MEASURES` apply. A new place of a claim appears
     * on the public map at the next full hour: otherwise who moves the pilgrim away sees there which place is theirs.
     */
    private readonly isClaim: (userId: string) => boolean = () => false,
  ) {
    this.#through = Array.from({ length: kv.partitions }, () => 0)
    this.#erasedThrough = [...this.#through]
    this.#refreshing = repeated(log, 'refreshing the live map failed', REFRESH_MS, () => this.#refresh())
    this.#forgetting = repeated(log, 'removing old positions failed', FORGET_MS, () => this.forgetOld())
  }

  async start(): Promise<void> {
    this.#refreshing.start()
    this.#forgetting.start(false)
    await this.refresh()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#refreshing.stop(), this.#forgetting.stop()])
  }

  /** Removes positions from memory that are too old for the map. @throws KvUnavailable */
  async forgetOld(): Promise<void> {
    const { fromMs, toMs } = await keptTimes({ kv: this.kv, now: this.now })
    await inTurns(
      this.#each((row, positions) => {
        const isOld = positions.times[row]! < fromMs || positions.times[row]! > toMs
        if (isOld) positions.delete(positions.userIds[row]!)
      }),
    )
  }

  /** Latest positions, latest first. @throws Refusal 503 when they are out of date */
  async read({ limit, since, bbox }: DataQuery): Promise<Place[]> {
    this.expectCurrent()
    const sinceMs = since ?? this.now() - DAY_MS
    const isAsked = (row: number, { lats, lngs, times }: PositionColumns) =>
      times[row]! >= sinceMs && (bbox === undefined || inside({ lat: lats[row]!, lng: lngs[row]! }, bbox))
    const bucketOf = (t: number) => Math.floor(t / BUCKET_MS)
    const counts = new Map<number, number>()
    await inTurns(
      this.shown((row, positions) => {
        if (!isAsked(row, positions)) return
        const bucket = bucketOf(positions.times[row]!)
        counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
      }),
    )
    let left = limit
    const latest = new Set<number>()
    for (const bucket of [...counts.keys()].sort((a, b) => b - a)) {
      if (left <= 0) break
      latest.add(bucket)
      left -= counts.get(bucket)!
    }
    const found: Place[] = []
    await inTurns(
      this.shown((row, positions) => {
        if (isAsked(row, positions) && latest.has(bucketOf(positions.times[row]!)))
          found.push(positions.at(row))
      }),
    )
    return found.sort((a, b) => b.t - a.t).slice(0, limit)
  }

  /**
   * Visits the rows of all visible pilgrims. Computed in turns of the event loop; the rows may change between turns.
   */
  *shown(visit: (row: number, positions: PositionColumns) => void): Generator<void, void> {
    const nowMs = this.now()
    yield* this.#each((row, positions) => {
      if (positions.hiddenUntil[row]! <= nowMs) visit(row, positions)
    })
  }

  /** Version of the positions; a refresh that finds a change raises it. */
  get version(): number {
    return this.#version
  }

  /** @throws Refusal 503 when the positions are out of date */
  expectCurrent(): void {
    if (this.#age() > STALE_MS)
      throw unavailable('The live positions are out of date right now. Please try again in a moment.')
  }

  held(): number {
    return this.#shards.reduce((sum, { size }) => sum + size, 0)
  }

  /** This hour's id for a name, such as a pilgrim's id. The name cannot be derived from it. */
  publicId(name: string): string {
    const hour = Math.floor(this.now() / HOUR_MS)
    return this.#signer!.copy().update(`${hour}:${name}`).digest('base64url').slice(0, 16)
  }

  /** Reads the changed positions. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    return this.#refreshing.run()
  }

  async #refresh(): Promise<void> {
    const age = this.timing()
    this.#signer ??= new Bun.CryptoHasher(
      'sha256',
      await this.kv.cacheOnce(SECRET_KEY, crypto.randomUUID(), SECRET_TTL_MS),
    )
    await this.#allPartitions((partition) => this.#forgetErased(partition))
    await this.#allPartitions((partition) => this.#pull(partition))
    this.#age = age
    if (this.#hasChanged) this.#version++
    this.#hasChanged = false
  }

  #nextHour(): number {
    return (Math.floor(this.now() / HOUR_MS) + 1) * HOUR_MS
  }

  #allPartitions<T>(read: (partition: number) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#through.map((_, partition) => read(partition)))
  }

  async #pull(partition: number): Promise<void> {
    let since = Math.max(0, this.#through[partition]! - OVERLAP_MS)
    for (;;) {
      const page = await this.kv.moved(partition, since, PAGE)
      // The latest position is gone, or the store has lost its data and its clock was set back: read everything once.
      if (page.length === 0 && since > 0) {
        since = this.#through[partition] = 0
        continue
      }
      // Refreshes overlap, so many of these positions are already known.
      await inTurns(
        eachOf(page, (moved) => {
          const isClaim = this.isClaim(moved.userId)
          const holdUntilMs = isClaim && CLAIM_MEASURES.fullHours ? this.#nextHour() : 0
          if (this.#shardOf(moved.userId).set(moved, isClaim, holdUntilMs)) this.#hasChanged = true
        }),
      )
      const last = page.at(-1)?.movedMs ?? since
      this.#through[partition] = Math.max(this.#through[partition]!, last)
      if (page.length < PAGE) return
      // Inclusive: in releases before 1.2, positions of one call share their `movedMs`.
      since = last
    }
  }

  /** Removes pilgrims erased since the last check from memory. */
  async #forgetErased(partition: number): Promise<void> {
    for (;;) {
      const { userHashes, mark } = await this.kv.erasedAfter(partition, this.#erasedThrough[partition]!)
      if (userHashes.length > 0) await this.#forget(new Set(userHashes))
      this.#erasedThrough[partition] = mark
      if (userHashes.length === 0) return
    }
  }

  async #forget(hashes: ReadonlySet<string>): Promise<void> {
    const beginnings = new Set([...hashes].map(beginningOf))
    await inTurns(
      this.#each((row, positions) => {
        const userId = positions.userIds[row]!
        if (!beginnings.has(positions.hashes[row]!) || !hashes.has(userHash(userId))) return
        positions.delete(userId)
        this.#hasChanged = true
      }),
    )
  }

  *#each(visit: (row: number, positions: PositionColumns) => void): Generator<void, void> {
    for (const positions of this.#shards) yield* eachOf(positions.userIds, (_, row) => visit(row, positions))
  }

  #shardOf(userId: string): PositionColumns {
    return this.#shards[partitionOf(userId, SHARDS)]!
  }
}

/** Whether a place is in a box, edges included. Degrees. */
export const inside = (
  { lat, lng }: { readonly lat: number; readonly lng: number },
  [west, south, east, north]: BoundingBox,
): boolean => lat >= south && lat <= north && lng >= west && lng <= east
