/** Searches every store of an installation for words. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import Redis from 'ioredis'
import { connect } from 'nats'
import postgres from 'postgres'
import { takeBackupThroughSocket } from '#services/admin/backup/backup-socket.ts'
import { openDiskObjects } from '#shared/stores/objects/objects.disk.ts'

/** The stores of an installation; an empty URL means its data directory. */
export interface Places {
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly natsUrl: string
  readonly dataDir: string
  readonly objectsDir: string
}

/** Receives each text and its location. */
type Look = (place: string, text: string) => void

/** @returns each word that was found, as `word in place`. PGlite's files are searched as rows. */
export async function findInStores(places: Places, words: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const look: Look = (place, text) => {
    for (const word of words) if (text.includes(word)) found.add(`${word} in ${place}`)
  }
  const { databaseUrl, redisUrl, natsUrl, dataDir, objectsDir } = places
  if (databaseUrl === '')
    await takeBackupThroughSocket(dataDir, async (line) => look(line.slice(0, 40), line))
  else await lookInTables(databaseUrl, look)
  if (redisUrl !== '') await lookInRedis(redisUrl, look)
  if (natsUrl !== '') await lookInNats(natsUrl, look)
  await lookInObjects(objectsDir, look)
  lookInFiles(dataDir, look)
  return [...found].sort()
}

async function lookInTables(url: string, look: Look): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    const tables = await sql<{ name: string }[]>`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`
    for (const { name } of tables) {
      const rows = await sql.unsafe<{ row: string }[]>(`SELECT row_to_json(t)::text AS row FROM ${name} t`)
      for (const { row } of rows) look(`the table ${name}`, row)
    }
  } finally {
    await sql.end()
  }
}

async function lookInRedis(url: string, look: Look): Promise<void> {
  const redis = new Redis(url)
  const valueOf = async (key: string): Promise<unknown> => {
    switch (await redis.type(key)) {
      case 'string':
        return redis.get(key)
      case 'hash':
        return redis.hgetall(key)
      case 'set':
        return redis.smembers(key)
      case 'zset':
        return redis.zrange(key, '0', '-1', 'WITHSCORES')
      case 'list':
        return redis.lrange(key, 0, -1)
      default:
        // It expired after it was listed.
        return null
    }
  }
  try {
    for (const key of await redis.keys('*'))
      look(`redis, ${key}`, `${key} ${JSON.stringify(await valueOf(key))}`)
  } finally {
    redis.disconnect()
  }
}

async function lookInNats(url: string, look: Look): Promise<void> {
  const connection = await connect({ servers: url })
  try {
    const jsm = await connection.jetstreamManager()
    for await (const { config, state } of jsm.streams.list())
      for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq++) {
        const message = await jsm.streams.getMessage(config.name, { seq }).catch(() => null)
        if (message !== null) look(`the stream ${config.name}`, `${message.subject} ${message.string()}`)
      }
  } finally {
    await connection.close()
  }
}

async function lookInObjects(dir: string, look: Look): Promise<void> {
  if (!existsSync(dir)) return
  const objects = await openDiskObjects(dir)
  for await (const key of objects.list('')) {
    const object = await objects.get(key)
    if (object !== null) look(`the object ${key.split('/')[0]}`, `${key} ${asText(object.bytes)}`)
  }
}

const asText = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** Raw bytes of all files except the certificate and PGlite's files, whose rows are searched. */
function lookInFiles(dir: string, look: Look): void {
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (/^(db|tls|objects)(\/|$)/.test(name)) continue
    const path = join(dir, name)
    if (!(statSync(path, { throwIfNoEntry: false })?.isFile() ?? false)) continue
    look(`the file ${relative(dir, path)}`, `${name} ${asText(readFileSync(path))}`)
  }
}
