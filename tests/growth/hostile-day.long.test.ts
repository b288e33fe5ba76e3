/**
 * After a day of fake pilgrims, long texts and every kind of write, everything that has grown is in the
 * growth table and within its bound.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { boundOf, FILES, type Growth, KEYS, OBJECTS, TABLES, type Unit } from './growth-table.ts'
import { type EveryWrite, openEveryWrite, WRITES } from '#tests/faults/writes/every-write.ts'
import { until } from '#tests/helpers/wait.ts'
import { type Server, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

const INVENTED = 20
const LONG = 'x'.repeat(100)
/** Bodies with longer texts than the examples. */
const LONG_BODIES: Readonly<Record<string, object>> = {
  syncProfile: { display_name: '雨'.repeat(200) },
  submitFeedback: { description: '雨'.repeat(2_000) },
}
/** Writes that would end the day for the others. The end of the event requires a final flush. */
const LAST = ['revokeTrackerOfUser', 'revokeTracker', 'eraseUser', 'eraseOwnData', 'setStatus', 'endActivity']
/** Writes that are rejected: an earlier one has deleted their target, and no rehearsal is on. */
const REFUSED = ['requeueDeadLetter', 'revokeTracker', 'revokeSharesOfUser', 'resetRehearsal']

/** The name in a growth table: the most specific pattern that matches. */
function nameOf(table: Readonly<Record<string, Growth>>, found: string): string | undefined {
  const fits = Object.keys(table).filter((pattern) =>
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => RegExp.escape(part))
        .join('.*')}$`,
    ).test(found),
  )
  return fits.sort((a, b) => b.length - a.length)[0]
}

describeOnServers('a hostile day', () => {
  let redis: Server
  let all: EveryWrite
  const counts: Record<Unit, number> = { pilgrim: 0, point: 0, call: 0, hour: 0, person: 0, process: 4 }
  beforeAll(async () => {
    redis = await startRedis()
    all = await openEveryWrite(redis)
    await all.reset(WRITES.find(({ id }) => id === 'endActivity'))
    const send = async (...[endpoint, body]: Parameters<EveryWrite['send']>): Promise<boolean> => {
      const answer = await all.send(endpoint, body)
      await answer.text()
      if (answer.ok) counts.call++
      return answer.ok
    }
    const failed: string[] = []
    const sendAll = async (endpoints: typeof WRITES): Promise<void> => {
      for (const endpoint of endpoints)
        if (!(await send(endpoint)) && !REFUSED.includes(endpoint.id)) failed.push(endpoint.id)
    }
    const ordered = WRITES.toSorted((a, b) => LAST.indexOf(a.id) - LAST.indexOf(b.id))
    await sendAll(ordered.filter(({ id }) => !LAST.includes(id)))
    const byBody = ordered.filter(({ id, caller }) => caller === 'body' && !LAST.includes(id))
    for (let i = 0; i < INVENTED; i++)
      for (const endpoint of byBody)
        await send(endpoint, { user_id: `${LONG}${i}`, ...LONG_BODIES[endpoint.id] })
    await sendAll(ordered.filter(({ id }) => LAST.includes(id)))
    expect(failed).toEqual([])
    counts.pilgrim = INVENTED + 2
    counts.person = 2
  }, 600_000)
  afterAll(async () => {
    await all?.close()
    await redis?.close()
  })

  function expectBounded(table: Readonly<Record<string, Growth>>, sizes: ReadonlyMap<string, number>): void {
    const byName = new Map<string, number>()
    const unknown: string[] = []
    for (const [found, bytes] of sizes) {
      const name = nameOf(table, found)
      if (name === undefined) unknown.push(found)
      else byName.set(name, (byName.get(name) ?? 0) + bytes)
    }
    expect(unknown).toEqual([])
    const tooLarge = [...byName].filter(([name, bytes]) => bytes > boundOf(table[name]!, counts))
    expect(tooLarge.map(([name, bytes]) => `${name}: ${bytes} > ${boundOf(table[name]!, counts)}`)).toEqual(
      [],
    )
  }

  test('grows nothing but what the table names, within its bounds, and a flush frees the points', async () => {
    const { sql } = all.parts.ports.db
    const keySizes = async () => {
      const sizes = new Map<string, number>()
      for (const key of await all.redis.keys('*'))
        sizes.set(key, (await all.redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0)
      return sizes
    }
    const pending = await keySizes()
    await until(async () => (await all.parts.ports.kv.bufferSize()) === 0, 'the last flush')
    const [row] = await sql<[{ points: number; hours: number }]>`
      SELECT (SELECT count(*)::int FROM gps_points) AS points, (SELECT count(*)::int FROM event_hours) AS hours`
    counts.point = row.points + counts.call
    counts.hour = 10 * row.hours
    expectBounded(KEYS, pending)
    const flushed = await keySizes()
    expectBounded(KEYS, flushed)
    expect([...flushed.keys()].filter((key) => key.includes(':buf:'))).toEqual([])

    const tables = await sql<{ name: string; bytes: number }[]>`
      SELECT relname AS name, (SELECT sum(pg_total_relation_size(relid))::float8 FROM pg_partition_tree(c.oid)) AS bytes
      FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`
    const plain = await sql<{ name: string; bytes: number }[]>`
      SELECT relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes
      FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND NOT relispartition`
    const sizes = new Map([...tables, ...plain].map(({ name, bytes }) => [name, bytes]))
    expectBounded(TABLES, sizes)
    expect(Object.keys(TABLES).filter((name) => !sizes.has(name))).toEqual([])

    const objects = new Map<string, number>()
    const files = new Map<string, number>()
    const { objects: store, config } = all.parts.ports
    const firstOf = (path: string) => path.split('/')[0]!
    const add = (to: Map<string, number>, name: string, bytes: number) =>
      to.set(name, (to.get(name) ?? 0) + bytes)
    for await (const key of store.list('')) add(objects, firstOf(key), (await store.get(key))!.bytes.length)
    for (const path of readdirSync(config.dataDir, { recursive: true, encoding: 'utf8' })) {
      const found = statSync(join(config.dataDir, path), { throwIfNoEntry: false })
      if (found?.isFile()) add(files, firstOf(path), found.size)
    }
    expectBounded(OBJECTS, objects)
    expectBounded(FILES, files)
  })
})
