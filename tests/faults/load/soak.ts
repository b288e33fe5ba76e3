/**
 * `bun tests/faults/load/soak.ts [--minutes 15] [--rate <requests a second>]`: requests at a steady rate, half of
 * what was taken in a first try if not said, with a flush each minute. A row a minute: what answers took, and the
 * memory, file handles and connections of each part, so that what grows is seen.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { parseArgs } from 'node:util'
import postgres from 'postgres'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import type { Server } from '#tests/helpers/servers.ts'
import { type FragileWorld, openFragileWorld } from '#tests/helpers/test-stack-real.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'
import { startSteady, walking } from './steady.ts'

const TRY_MS = 8_000
const ABREAST = 48
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '15' }, rate: { type: 'string' } },
})

/** Resident megabytes; open files and sockets among them. */
function sizeOf({ pid }: Server): { mb: number; files: number; sockets: number } {
  const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      // Closed between the two looks.
      return ''
    }
  })
  const sockets = links.filter((link) => link.startsWith('socket:')).length
  return { mb: Math.round(kb / 1_024), files: links.length, sockets }
}

function partsOf(world: FragileWorld): [name: string, server: Server][] {
  const services = ServiceName.options.map((name): [string, Server] => [name, world.service(name)])
  return [
    ...services,
    ['tracking-2', world.service('tracking', 1)],
    ['redis', world.redis],
    ['nats', world.nats],
    ['caddy', world.caddy],
  ]
}

/** Requests a second when each of some clients sends the next one as soon as the last is answered. */
async function ceiling(ask: (n: number) => Promise<boolean>): Promise<number> {
  const endsAt = performance.now() + TRY_MS
  let n = 0
  const client = async () => {
    while (performance.now() < endsAt) await ask(n++).catch(() => false)
  }
  await Promise.all(Array.from({ length: ABREAST }, client))
  return (n / TRY_MS) * 1_000
}

await inDirectory('soak', async () => {
  const world = await openFragileWorld({ settings: { EVENT_FLUSH_SECONDS: '60' } })
  const sql = postgres(world.databaseUrl, { max: 1, onnotice: () => undefined })
  const parts = partsOf(world)
  const ask = walking(world.fetch)
  const most = values.rate === undefined ? await ceiling((n) => ask(1e7 + n)) : 2 * Number(values.rate)
  const rate = Math.round(most / 2)
  console.log(`${rate} requests a second, half of ${Math.round(most)}; each cell: MB files/sockets`)
  console.log(
    `| min | requests | failed | p50 ms | p99 ms | ${parts.map(([name]) => name).join(' | ')} | pg conn. | rows |`,
  )
  console.log(`| --: | --: | --: | --: | --: |${parts.map(() => ' --: |').join('')} --: | --: |`)
  const row = async (minute: number, steady?: ReturnType<typeof startSteady>) => {
    const { requests, failures, p50Ms, p99Ms } = steady?.take() ?? {
      requests: 0,
      failures: 0,
      p50Ms: 0,
      p99Ms: 0,
    }
    const sizes = parts
      .map(([, server]) => sizeOf(server))
      .map(({ mb, files, sockets }) => `${mb} ${files}/${sockets}`)
    const [counts] = await sql<{ connections: number; rows: number }[]>`
      SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE application_name = 'event') AS connections,
             (SELECT count(*)::int FROM gps_points) AS rows`
    const cells = [minute, requests, failures, p50Ms.toFixed(1), p99Ms.toFixed(1), ...sizes]
    console.log(`| ${[...cells, counts!.connections, counts!.rows].join(' | ')} |`)
  }
  await row(0)
  const steady = startSteady(rate, ask)
  for (let minute = 1; minute <= Number(values.minutes); minute++) {
    await Bun.sleep(60_000)
    await row(minute, steady)
  }
  await steady.stop()
  // Connections and memory that were only lent are given back by now.
  await Bun.sleep(65_000)
  await row(Number(values.minutes) + 1, steady)
  await sql.end({ timeout: 1 })
  await world.close()
})
