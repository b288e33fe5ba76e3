/** The answers that tell one snapshot. Each is made once, when it is asked for. */
import type { EventMap } from '#shared/contracts/map.ts'
import { Prepared } from '#shared/http/prepared-response.ts'
import { deltaOf } from './delta.ts'

const prepared = (data: unknown): Prepared => new Prepared(JSON.stringify({ ok: true, data }))

export class Answers {
  readonly #whole: Prepared
  readonly #made = new Map<number, Prepared>()

  /** @param kept the versions that a delta may start from */
  constructor(
    private readonly map: EventMap,
    private readonly kept: ReadonlyMap<number, EventMap>,
  ) {
    this.#whole = prepared(map)
  }

  /** What has changed since a version; the whole for an unknown one, and without one. */
  since(version: number | undefined): Prepared {
    const from = version === undefined ? undefined : this.kept.get(version)
    if (from === undefined) return this.#whole
    return this.#made.getOrInsertComputed(from.version, () => {
      const delta = prepared(deltaOf(from, this.map))
      // A crowd that has moved as a whole is told shorter as a whole.
      return delta.size < this.#whole.size ? delta : this.#whole
    })
  }

  /** The whole, and what has changed since each of the last versions; one after the other as they are read. */
  *latest(versions: number): Generator<readonly [since: number | undefined, answer: Prepared]> {
    for (const since of [undefined, ...[...this.kept.keys()].slice(-versions)])
      yield [since, this.since(since)]
  }
}
