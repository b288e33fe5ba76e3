/** Every table with a pilgrim's rows is in the list used by exports and erasures. */
import { expect, test } from 'bun:test'
import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { PERSONAL_TABLES } from '#shared/stores/schema/tables.ts'
import * as schema from '#shared/stores/schema/tables.ts'

test('every table with a user_id is listed as personal, and no other', () => {
  const tables = Object.values<unknown>(schema)
    .filter((value): value is PgTable => is(value, PgTable))
    .map(getTableConfig)
  const personal = tables.filter(({ columns }) => columns.some(({ name }) => name === 'userId'))
  expect(personal.map(({ name }) => name).sort()).toEqual([...PERSONAL_TABLES].sort())
})
