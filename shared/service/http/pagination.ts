/** Cursors of lists: opaque to clients, and valid only for the list and order that returned them. */
import { z } from 'zod'
import { invalid } from '#shared/runtime/refusal.ts'

/** An id of a serial column. Validated, because clients can forge cursors and the database rejects other ids. */
export const RowId = z.int().min(0).max(2_147_483_647)

/** Encodes the end of a page as a cursor. @param list name of the list and its order */
export const encodeCursor = (list: string, position: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([list, ...position])).toString('base64url')

/**
 * Decodes a cursor.
 * @throws Refusal 400 for a forged cursor or one from another list
 */
export function decodeCursor<S extends z.ZodType>(list: string, cursor: string, position: S): z.infer<S> {
  const foreign = invalid('cursor: is not a cursor of this list; begin again without it')
  let parts: unknown
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    throw foreign
  }
  if (!Array.isArray(parts) || parts[0] !== list) throw foreign
  const parsed = position.safeParse(parts.slice(1))
  if (!parsed.success) throw foreign
  return parsed.data
}

/** Makes a page of `limit` items from `limit + 1` rows; the extra row means that there is a next page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  item: (row: Row) => Item,
  cursor: (last: Row) => string,
): { items: Item[]; next_cursor: string | null } {
  const shown = rows.slice(0, limit)
  return { items: shown.map(item), next_cursor: rows.length > limit ? cursor(shown.at(-1)!) : null }
}
