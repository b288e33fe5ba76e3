/** Column types that several tables share. */
import { bigint, customType, timestamp } from 'drizzle-orm/pg-core'

/** An instant; written and read as Date. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' })

/** Whole millimetres or milligrams: exact in any grouping, far below 2^53. */
export const exact = (name: string) => bigint(name, { mode: 'number' })

/** float4, for what phones measure. */
export const measure = customType<{ data: number }>({ dataType: () => 'real' })

/** Raw bytes; raw SQL writes them by `decode(…, 'base64')` and reads them by `encode`. */
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })
