/**
 * The palanquin's device and its place. One device moves it: a tracker, by its key, or the phone that proves the
 * pilgrim's id. Whatever else is written in the pilgrim's name moves the pilgrim, and never the palanquin.
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
/** Places that arrive at once on several replicas, and a former device's that is forgotten meanwhile. */
const MAX_ATTEMPTS = 5
/** Where the kv keeps its place, with the hash of its device and no id. */
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

  /** Hash of the device whose place is shown; null: none is. */
  get hash(): string | null {
    return this.#reported?.device ?? (this.#device ? hashOf(this.#device) : null)
  }

  /** Where it was last, exactly: it is public, and no crowd hides it. null: there is none, or it was not seen for a day. */
  get place(): Position | null {
    const { now } = this.context
    return this.#reported !== null && this.#reported.t >= now() - DAY_MS ? this.#reported : null
  }

  /**
   * Reads which device it is, and where. Once the device has lost the name, its place is deleted from the kv. While the
   * database does not answer, the place in the kv holds: a replica that can read the device forgets it.
   * @returns whether the device could be read
   * @throws KvUnavailable
   */
  async refresh(): Promise<boolean> {
    const { event, kv, log } = this.context
    // The place first: a place of a device that was named meanwhile is not taken for one of a former device.
    const json = await kv.cached(KEY)
    const reported = json === null ? null : (JSON.parse(json) as Reported)
    const named = event.current.followed === 'walk' ? null : this.#readDevice()
    const device = await readOr(log, 'the palanquin', Promise.resolve(named), undefined)
    this.#reported = reported
    if (device === undefined) return false
    this.#device = device
    if (reported === null || (device !== null && reported.device === hashOf(device))) return true
    this.#reported = null
    // A device that was named meanwhile may have reported, and stays.
    await kv.exchange(KEY, json, null, DAY_MS)
    return true
  }

  /**
   * An admission that also moves the palanquin where the device is it.
   * @param keyHash of the tracker that has sent; null: the pilgrim's phone
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
        // Others may fill the buffer and the limits of a claim, or refuse its consent, and the palanquin goes on.
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
        // Two seconds after another one was named, this replica may still follow the former.
        if (last !== null && last.device !== device && !(await this.#isNamed(device))) return
        if (await kv.exchange(KEY, json, moved, DAY_MS)) return
      }
    } catch (error) {
      if (!isKvUnavailable(error)) log.error('moving the palanquin failed', errorFields(error))
    }
  }

  /** Whether it is still this device; also true while the database does not answer. */
  async #isNamed(device: string): Promise<boolean> {
    const named = await readOr(this.context.log, 'the palanquin', this.#readDevice(), undefined)
    return named === undefined || (named !== null && hashOf(named) === device)
  }

  async #readDevice(): Promise<Device | null> {
    const named = await readPalanquin(this.context)
    return typeof named === 'string' ? null : named
  }
}

/** What a query gives, at most {@link QUERY_MS} later; while the database does not answer, what was known before. */
export function readOr<T>(log: Context['log'], what: string, read: Promise<T>, before: T): Promise<T> {
  const known = read.catch((error: unknown) => {
    if (!isDatabaseUnavailable(error)) log.error(`reading ${what} failed`, errorFields(error))
    return before
  })
  return within(known, QUERY_MS, () => before)
}
