/** A database and a Redis of its own for each test file, on the servers of the run. */
import Redis from 'ioredis'
import postgres from 'postgres'
import { serverUrl } from './suite.ts'
import { REDIS_DATABASES } from './servers.ts'

const TEMPLATE = 'migrated'
/** Any number that all test files of a run agree on. */
const TEMPLATE_LOCK = 20_260_412

export interface TestDatabase {
  readonly url: string
  /** Removes it, connections and all. */
  drop(): Promise<void>
}

/** A fresh database with this release's schema: a clone of one that is migrated once a run. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const name = `test_${uniqueName()}`
  await asAdmin(async (sql) => {
    await ensureTemplate(sql)
    await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
  })
  return {
    url: urlOf(name),
    drop: () => asAdmin(async (sql) => void (await sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`))),
  }
}

/** The template bears its name only once it is complete, so a migration that failed leaves none behind. */
async function ensureTemplate(sql: postgres.Sql): Promise<void> {
  const exists = async () => (await sql`SELECT FROM pg_database WHERE datname = ${TEMPLATE}`).length > 0
  if (await exists()) return
  await sql`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`
  try {
    if (await exists()) return
    const unfinished = `${TEMPLATE}_unfinished`
    await sql.unsafe(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await sql.unsafe(`CREATE DATABASE ${unfinished}`)
    const { migrate } = await import('#shared/db/migrate.ts')
    await migrate(urlOf(unfinished))
    // A database that somebody is connected to, autovacuum included, cannot be cloned.
    await sql.unsafe(`ALTER DATABASE ${unfinished} ALLOW_CONNECTIONS false`)
    await sql.unsafe(`ALTER DATABASE ${unfinished} RENAME TO ${TEMPLATE}`)
  } finally {
    await sql`SELECT pg_advisory_unlock(${TEMPLATE_LOCK})`
  }
}

async function asAdmin(work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  // One connection: an advisory lock belongs to the connection that took it.
  const sql = postgres(serverUrl('POSTGRES'), { max: 1, onnotice: () => undefined })
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

function urlOf(database: string): string {
  const url = new URL(serverUrl('POSTGRES'))
  url.pathname = database
  return url.href
}

/**
 * A logical database of the run's Redis, emptied. Redis itself counts which is next; after the last one it is the
 * first again, whose test file has ended by then.
 */
export async function testRedisUrl(): Promise<string> {
  const counting = new Redis(serverUrl('REDIS'))
  try {
    // Database 0 keeps the count, so it is nobody's.
    const index = 1 + ((await counting.incr('tests:databases')) % (REDIS_DATABASES - 1))
    await counting.select(index)
    await counting.flushdb()
    return `${serverUrl('REDIS')}/${index}`
  } finally {
    counting.disconnect()
  }
}

const uniqueName = (): string => crypto.randomUUID().replaceAll('-', '')
