import type { Data } from '#shared/client/index.ts'

/** Everything about one pilgrim. */
export type Detail = Data<'readUser'>
