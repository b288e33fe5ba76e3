/** Paginated lists. A cursor is opaque to clients, and valid only for the list and order that returned it. */
import { z } from 'zod'
import type { PageQuery } from '#shared/contracts/fields.ts'
import { invalid } from '#shared/runtime/refusal.ts'

/** An id of a serial column. Validated, because clients can forge cursors and the database rejects other ids. */
export const RowId = z.int().min(0).max(2_147_483_647)

type Form = readonly [z.ZodType, ...z.ZodType[]]
type Place<P extends Form> = { -readonly [I in keyof P]: z.infer<P[I]> }

/**
 * Encodes the end of a page as a cursor. Ids stay readable in it, so that they are found and replaced as elsewhere.
 * @param list name of the list and its order
 */
export const encodeCursor = (list: string, position: readonly unknown[]): string =>
  encodeURIComponent(JSON.stringify([list, ...position]))

/**
 * Decodes a cursor; null: the first page.
 * @throws Refusal 400 for a forged cursor or one from another list
 */
export function decodeCursor<const P extends Form>(
  list: string,
  position: P,
  cursor: string | undefined,
): Place<P> | null {
  if (cursor === undefined) return null
  const foreign = invalid('cursor: is not a cursor of this list; begin again without it')
  try {
    const parts = z.tuple([z.literal(list)], z.unknown()).parse(JSON.parse(decodeURIComponent(cursor)))
    return z.tuple(position).parse(parts.slice(1)) as Place<P>
  } catch {
    throw foreign
  }
}

/**
 * A page of a list.
 * @param position form of the position where a page ends
 * @param read reads at most `limit` rows after a position; null: from the start
 */
export function readPage<const P extends Form, Row, Item>(
  list: string,
  position: P,
  { limit, cursor }: PageQuery,
  read: (after: Place<P> | null, limit: number) => Row[] | Promise<Row[]>,
  item: (row: Row) => Item,
  positionOf: (last: Row) => Place<P>,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  // Decoded synchronously, so that a forged cursor is rejected before the caller starts its other reads.
  const after = decodeCursor(list, position, cursor)
  const reading = async () => {
    // The extra row means that there is a next page.
    const rows = await read(after, limit + 1)
    const shown = rows.slice(0, limit)
    const next_cursor = rows.length > limit ? encodeCursor(list, positionOf(shown.at(-1)!)) : null
    return { items: shown.map(item), next_cursor }
  }
  return reading()
}
