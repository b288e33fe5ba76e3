/** A database and a logical Redis database for each test file, on the servers of the run. */
import Redis from 'ioredis'
import postgres from 'postgres'
import { serverUrl } from './suite.ts'
import { REDIS_DATABASES } from './servers.ts'

const TEMPLATE = 'migrated'
/** An arbitrary number, the same for all test files of a run. */
const TEMPLATE_LOCK = 20_260_412

export interface TestDatabase {
  readonly url: string
  /** Closes its connections and drops it. */
  drop(): Promise<void>
}

/** A new database with this release's schema: a clone of a template that is migrated once per run. */
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

/** The template gets its name when it is complete, so a failed migration leaves no template. */
async function ensureTemplate(sql: postgres.Sql): Promise<void> {
  const exists = async () => (await sql`SELECT FROM pg_database WHERE datname = ${TEMPLATE}`).length > 0
  if (await exists()) return
  await sql`SELECT pg_advisory_lock(${TEMPLATE_LOCK})`
  try {
    if (await exists()) return
    const unfinished = `${TEMPLATE}_unfinished`
    await sql.unsafe(`DROP DATABASE IF EXISTS ${unfinished} WITH (FORCE)`)
    await sql.unsafe(`CREATE DATABASE ${unfinished}`)
    const { migrate } = await import('#shared/stores/db/migrate.ts')
    await migrate(urlOf(unfinished))
    // A database with connections, including autovacuum's, cannot be cloned.
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
 * An empty logical database of the run's Redis. A counter in Redis selects the next one; after the last it restarts at
 * the first, whose test file has ended by then.
 */
export async function testRedisUrl(): Promise<string> {
  const counting = new Redis(serverUrl('REDIS'))
  try {
    // Database 0 stores the counter, so no test gets it.
    const index = 1 + ((await counting.incr('tests:databases')) % (REDIS_DATABASES - 1))
    await counting.select(index)
    await counting.flushdb()
    return `${serverUrl('REDIS')}/${index}`
  } finally {
    counting.disconnect()
  }
}

const uniqueName = (): string => crypto.randomUUID().replaceAll('-', '')
