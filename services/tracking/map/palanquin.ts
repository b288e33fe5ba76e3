/**
 * The palanquin's device and its position. Only one device moves it: a tracker, by its key, or the phone that
 * proves the pilgrim's id. Other points sent for the pilgrim move the pilgrim but not the palanquin.
 */
import { within } from '#shared/runtime/deadline.ts'
import { errorFields } from '#shared/runtime/log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Device, readPalanquin } from '#shared/service/palanquin-device.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { isKvUnavailable, type Position, rankOf, type Submission, userHash } from '#shared/stores/kv/kv.ts'

const DAY_MS = 86_400_000
const QUERY_MS = 3_000
/**
 * Attempts when several replicas report positions at once, or a former device's position is removed
 * meanwhile.
 */
const MAX_ATTEMPTS = 5
/** Key of the position in the kv, stored with the hash of its device and without an id. */
const KEY = 'palanquin'

interface Reported extends Position {
  readonly device: string
}

const hashOf = ({ userId, keyHash }: Device): string => userHash(`${userId} ${keyHash ?? ''}`)

type Context = Pick<ServiceContext, 'config' | 'db' | 'event' | 'kv' | 'log' | 'now'>

export class Palanquin {
  /** undefined: not read yet. */
  #device: Device | null | undefined
  #reported: Reported | null = null

  constructor(private readonly context: Context) {}

  /** Hash of the device whose position is shown; null: none. */
  get hash(): string | null {
    return this.#reported?.device ?? (this.#device ? hashOf(this.#device) : null)
  }

  /** Its last exact position: it is public, and not hidden by a crowd. null: none, or not seen for a day. */
  get place(): Position | null {
    const { now } = this.context
    return this.#reported !== null && this.#reported.t >= now() - DAY_MS ? this.#reported : null
  }

  /**
   * Reads the device and its position. If the device is no longer the palanquin, its position is deleted from
   * the kv. While the database is down, the position in the kv stays, until a replica that can read the
   * device removes it.
   * @returns whether the device could be read
   * @throws KvUnavailable
   */
  async refresh(): Promise<boolean> {
    const { event, kv, log } = this.context
    // Read the position first, so that the position of a newly set device is not taken for a former
    // device's.
    const json = await kv.cached(KEY)
    const reported = json === null ? null : (JSON.parse(json) as Reported)
    const named = event.current.followed === 'walk' ? null : this.#readDevice()
    const device = await readOr(log, 'the palanquin', Promise.resolve(named), undefined)
    this.#reported = reported
    if (device === undefined) return false
    this.#device = device
    if (reported === null || (device !== null && reported.device === hashOf(device))) return true
    this.#reported = null
    // Keep the position of a device that was set and has reported meanwhile.
    await kv.exchange(KEY, json, null, DAY_MS)
    return true
  }

  /**
   * Wraps an admission so that it also moves the palanquin, if the sender is its device.
   * @param keyHash of the sending tracker; null: the pilgrim's phone
   */
  following<V extends { readonly outcome: string }>(
    admit: (submission: Submission) => Promise<V>,
    keyHash: string | null,
  ): (submission: Submission) => Promise<V> {
    return (submission) => {
      const verdict = admit(submission)
      const { userId, position } = submission
      const device = this.#device
      if (!device || device.userId !== userId || device.keyHash !== keyHash || !position) return verdict
      return verdict.then((decided) => {
        // For a claim, others may fill the buffer or the limits, or withdraw its consent: the palanquin
        // moves all the same.
        const isRefused = decided.outcome === 'no-consent' && isClaim(this.context.config, userId)
        if (isRefused || ['admitted', 'full', 'limited'].includes(decided.outcome))
          void this.#move(hashOf(device), position)
        return decided
      })
    }
  }

  async #move(device: string, position: Position): Promise<void> {
    const { kv, log } = this.context
    const moved = JSON.stringify({ ...position, device } satisfies Reported)
    try {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const json = await kv.cached(KEY)
        const last = json === null ? null : (JSON.parse(json) as Reported)
        if (last?.device === device && rankOf(last) > rankOf(position)) return
        // For two seconds after a change, this replica may still follow the former device.
        if (last !== null && last.device !== device && !(await this.#isNamed(device))) return
        if (await kv.exchange(KEY, json, moved, DAY_MS)) return
      }
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('moving the palanquin failed', errorFields(error))
    }
  }

  /** Whether it is still this device; also true while the database is down. */
  async #isNamed(device: string): Promise<boolean> {
    const named = await readOr(this.context.log, 'the palanquin', this.#readDevice(), undefined)
    return named === undefined || (named !== null && hashOf(named) === device)
  }

  async #readDevice(): Promise<Device | null> {
    const named = await readPalanquin(this.context)
    return typeof named === 'string' ? null : named
  }
}

/** The result of a query, or after {@link QUERY_MS} or an error the previous value. */
export function readOr<T>(log: Context['log'], what: string, read: Promise<T>, before: T): Promise<T> {
  const known = read.catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) log.error(`reading ${what} failed`, errorFields(error))
    return before
  })
  return within(known, QUERY_MS, () => before)
}
