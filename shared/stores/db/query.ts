/** Types of SQL handles: drizzle's, and the client's own. */
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql, TransactionSql } from 'postgres'

export type Orm = PostgresJsDatabase
/** Raw SQL, outside or inside a transaction. */
export type Query = Sql | TransactionSql
