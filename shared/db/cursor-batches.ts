/** Rows of a query, some at a time, while other queries run in the same transaction. */
import type { Query } from './db.ts'

const ROWS = 5_000

/** Yields what a SELECT answers in portions. Cursors of one transaction need names of their own. */
export async function* cursorBatches<R extends object>(
  tx: Query,
  name: string,
  select: string,
  count = ROWS,
): AsyncGenerator<R[]> {
  await tx.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`)
  for (;;) {
    const rows = await tx.unsafe<R[]>(`FETCH ${count} FROM ${name}`)
    if (rows.length === 0) break
    yield [...rows]
  }
  await tx.unsafe(`CLOSE ${name}`)
}
