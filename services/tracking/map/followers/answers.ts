/** The answers that tell one snapshot. Each is made once, when it is asked for. */
import { type EventMap, EventMapDelta, type MapCellEntry } from '#shared/contracts/map.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'

type Field = Exclude<keyof EventMap, 'since' | 'version' | 'as_of' | 'cells'>
const FIELDS = Object.keys(EventMapDelta.shape).filter(
  (name) => !['since', 'version', 'as_of', 'cells'].includes(name),
) as Field[]

/** Applied to `from`, it gives `to`: fields replace fields, cells replace cells of the same place and zoom. */
export function deltaOf(from: EventMap, to: EventMap): EventMapDelta {
  const changed = FIELDS.filter((field) => !Bun.deepEquals(from[field], to[field]))
  const cells = changedCells(from.cells, to.cells)
  return {
    since: from.version,
    version: to.version,
    as_of: to.as_of,
    ...Object.fromEntries(changed.map((field) => [field, to[field]])),
    ...(cells.length === 0 ? {} : { cells }),
  }
}

const nameOf = ([lat, lng, zoom]: MapCellEntry): string => `${zoom} ${lat} ${lng}`

function changedCells(from: readonly MapCellEntry[], to: readonly MapCellEntry[]): MapCellEntry[] {
  const before = new Map(from.map((cell) => [nameOf(cell), cell]))
  const changed: MapCellEntry[] = []
  for (const cell of to) {
    const held = before.get(nameOf(cell))
    before.delete(nameOf(cell))
    if (held?.[3] !== cell[3]) changed.push(cell)
  }
  for (const [lat, lng, zoom] of before.values()) changed.push([lat, lng, zoom, 0])
  return changed
}

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
