/**
 * `GET map`. A snapshot is made every ten seconds, once for all replicas: the first one makes it, and all others read it
 * from the kv. So every replica knows the same versions, and any of them can tell what has changed since one.
 * While the kv is unavailable, each replica answers with its last snapshot, marked as stale. With `EVENT_MAP_DIR` the
 * answers of the last minutes are files, too, so that hardly any request arrives here.
 */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { EventMap } from '#shared/contracts/map.ts'
import { Refusal, unavailable } from '#shared/http/errors.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { PublicMap } from '../public-map.ts'
import { Answers } from './answers.ts'
import { type Snapshot, makeSnapshot, staleSnapshot } from './make-snapshot.ts'
import { writeMapFiles } from './map-files.ts'

const EDITION_MS = 10_000
/** Snapshots that a delta may start from: five minutes. */
const KEPT = 30
/** Versions that files tell the changes since: two minutes. A page that was away for longer asks tracking. */
const FILED = 12
/** The number is that of the form: a release with another one reads none of these snapshots. */
const KEY = 'event-map-1'
const EDITION_TTL_MS = 60_000
/** After a restart of all replicas, the speed of the last hour goes on from the last snapshot. */
const LAST_TTL_MS = 3_600_000
const LOCK_MS = 6_000
const WAIT_MS = 300
const WAITS = 20

const CACHE = 'public, max-age=10, stale-while-revalidate=60'

type Context = Pick<ServiceContext, 'config' | 'db' | 'kv' | 'now' | 'log'>

export class FollowersMap {
  #last: Snapshot | null = null
  #answers: Answers | null = null
  /** Versions of the last minutes, oldest first. A stale one is missing: each replica has its own. */
  readonly #kept = new Map<number, EventMap>()
  #timer: Timer | undefined
  #refreshing: Promise<void> | null = null
  #writing: Promise<void> | null = null
  /** Whether the last files could not be written. */
  #isUnwritable = false

  constructor(
    private readonly context: Context,
    private readonly publicMap: PublicMap,
  ) {}

  async start(): Promise<void> {
    await this.refresh()
    // More often than a snapshot is made, so that one follows soon after its time.
    this.#timer = setInterval(() => void this.refresh(), EDITION_MS / 5)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#refreshing
    await this.#writing
  }

  /** The map, or what has changed since a version. @throws Refusal 503 before the first snapshot */
  answer(request: Request, since: number | undefined): Response {
    if (this.#answers === null)
      throw unavailable('The map is not known yet. Please try again in a moment.', 2)
    return this.#answers.since(since).respond(request, CACHE)
  }

  /** Takes over the snapshot of now. Concurrent calls share one refresh. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refresh(): Promise<void> {
    const version = Math.floor(this.context.now() / EDITION_MS)
    if (this.#last !== null && version <= this.#last.map.version) return
    try {
      this.#last ??= parsed(await this.context.kv.cached(KEY))
      this.#publish(await this.#shared(version))
    } catch (error) {
      const known = error instanceof Refusal || isKvUnavailable(error) || isDatabaseUnavailable(error)
      if (!known) this.context.log.error('making the map failed', errorFields(error))
      if (this.#last !== null) this.#publish(staleSnapshot(this.#last, version))
    }
  }

  #publish(snapshot: Snapshot): void {
    const { map } = snapshot
    const isStale = map.stale.includes('crowd')
    this.#last = snapshot
    if (!isStale) this.#kept.set(map.version, map)
    for (const version of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break
      this.#kept.delete(version)
    }
    this.#answers = new Answers(map, this.#kept)
    const { mapDir } = this.context.config
    if (mapDir !== '') this.#writing ??= this.#write(mapDir, map.version, isStale, this.#answers)
  }

  /** Writes the files of a version, beside everything else. */
  async #write(dir: string, version: number, isStale: boolean, answers: Answers): Promise<void> {
    try {
      await writeMapFiles(dir, { version, isStale, answers: answers.latest(FILED) })
      this.#isUnwritable = false
    } catch (error) {
      // Told once. Without files the proxy asks tracking, and the next version is written in ten seconds.
      if (!this.#isUnwritable)
        this.context.log.error('writing the files of the map failed', errorFields(error))
      this.#isUnwritable = true
    } finally {
      this.#writing = null
    }
  }

  /** The snapshot that all replicas share; the one that gets the lock makes it. */
  async #shared(version: number): Promise<Snapshot> {
    const { kv } = this.context
    const key = `${KEY}/${version}`
    for (let waits = 0; waits < WAITS; waits++) {
      const held = parsed(await kv.cached(key))
      if (held !== null) return held
      const token = await kv.lock(KEY, LOCK_MS)
      if (token === null) {
        await Bun.sleep(WAIT_MS)
        continue
      }
      try {
        const made = await makeSnapshot(this.context, this.publicMap, version, this.#last)
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
