/** Reads the rows of a query in batches, while other queries run in the same transaction. */
import type { Query } from './db.ts'

const BATCH_ROWS = 5_000

/** Yields the rows of a SELECT in batches of `count`. Each cursor of a transaction needs a unique name. */
export async function* cursorBatches<R extends object>(
  tx: Query,
  name: string,
  select: string,
  count = BATCH_ROWS,
): AsyncGenerator<R[]> {
  await tx.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`)
  for (;;) {
    const rows = await tx.unsafe<R[]>(`FETCH ${count} FROM ${name}`)
    if (rows.length === 0) break
    yield [...rows]
  }
  await tx.unsafe(`CLOSE ${name}`)
}
