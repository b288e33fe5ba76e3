/** A database in which a backup is restored to check it: beside that of the installation, and dropped afterwards. */
import { rm } from 'node:fs/promises'
import type { Config } from '#shared/runtime/config/config.ts'
import type { Database } from '#shared/stores/db/db.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'

/** Names of databases are cut after 63 bytes. */
const LONGEST_NAME = 40

const suffix = (): string => crypto.randomUUID().slice(0, 8)

/**
 * Calls `work` with an empty database: on the server of the installation, or embedded, in a folder beside the backup.
 * @throws when the database user may not create databases
 */
export async function withScratchDatabase<T>(
  { databaseUrl }: Config,
  backup: string,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const use = async (url: string, dir: string): Promise<T> => {
    const db = await openDatabase({ url, dir, statementMs: 0 })
    try {
      return await work(db)
    } finally {
      await db.close()
    }
  }
  if (databaseUrl !== '')
    return withDatabaseOnServer(databaseUrl, (name) => use(withName(databaseUrl, name), ''))
  const dir = `${backup}.scratch-${suffix()}`
  try {
    return await use('', dir)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function withDatabaseOnServer<T>(url: string, work: (name: string) => Promise<T>): Promise<T> {
  const server = await openDatabase({ url, dir: '', statementMs: 0 })
  try {
    const [row] = await server.sql<[{ name: string }]>`SELECT current_database() AS name`
    const prefix = `${row.name.slice(0, LONGEST_NAME)}_check_`
    // A check that was killed has left its own.
    const left = await server.sql<{ name: string }[]>`
      SELECT datname AS name FROM pg_database d
      WHERE starts_with(datname, ${prefix}) AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)`
    for (const { name } of left) await server.sql`DROP DATABASE IF EXISTS ${server.sql(name)}`
    const name = `${prefix}${suffix()}`
    await server.sql`CREATE DATABASE ${server.sql(name)}`
    try {
      return await work(name)
    } finally {
      await server.sql`DROP DATABASE IF EXISTS ${server.sql(name)} WITH (FORCE)`
    }
  } finally {
    await server.close()
  }
}

/** The address of another database of a server. An address may name several hosts, which `URL` does not read. */
const withName = (url: string, name: string): string =>
  url.replace(/^(\w+:\/\/[^/?]*)[^?]*/, (_, server: string) => `${server}/${name}`)
