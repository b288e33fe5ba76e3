/**
 * Sends requests at a steady rate and prints latencies and the size of each process by the minute, so that a leak
 * shows.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import postgres from 'postgres'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import type { Server } from '#tests/helpers/servers.ts'
import { type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'
import { startSteady, walking } from './steady.ts'

const TRIAL_MS = 8_000
const CLIENTS = 48

const USAGE = `Sends requests at a steady rate, with a flush each minute. Prints a row by the minute: latencies, and the memory,
file handles and connections of each process.

  bun tests/faults/load/soak.ts [options]

  --minutes <n>   how long (default: 15)
  --rate <n>      requests per second (default: half of what a short trial reaches)
  --help          print this text`

const { values } = readCommandLine(USAGE, {
  minutes: { type: 'string', default: '15' },
  rate: { type: 'string' },
})

/** Resident megabytes; the number of open files, and of the sockets among them. */
function sizeOf({ pid }: Server): { mb: number; files: number; sockets: number } {
  const kb = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      // Closed after the directory was read.
      return ''
    }
  })
  const sockets = links.filter((link) => link.startsWith('socket:')).length
  return { mb: Math.round(kb / 1_024), files: links.length, sockets }
}

function partsOf(stack: OwnedTestStack): [name: string, server: Server][] {
  const services = ServiceName.options.map((name): [string, Server] => [name, stack.service(name)])
  return [
    ...services,
    ['tracking-2', stack.service('tracking', 1)],
    ['redis', stack.redis],
    ['nats', stack.nats],
    ['caddy', stack.caddy],
  ]
}

/** Requests per second when {@link CLIENTS} clients each send the next request as soon as the last is answered. */
async function maximumRate(request: (n: number) => Promise<boolean>): Promise<number> {
  const endsAt = performance.now() + TRIAL_MS
  let n = 0
  const client = async () => {
    while (performance.now() < endsAt) await request(n++).catch(() => false)
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return (n / TRIAL_MS) * 1_000
}

await inDirectory('soak', async () => {
  const stack = await openOwnedTestStack({ settings: { EVENT_FLUSH_SECONDS: '60' } })
  const sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => undefined })
  const parts = partsOf(stack)
  const request = walking(stack.fetch)
  const maximum =
    values.rate === undefined ? await maximumRate((n) => request(1e7 + n)) : 2 * Number(values.rate)
  const rate = Math.round(maximum / 2)
  console.log(`${rate} requests per second, half of ${Math.round(maximum)}; each cell: MB files/sockets`)
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
  const steady = startSteady(rate, request)
  for (let minute = 1; minute <= Number(values.minutes); minute++) {
    await Bun.sleep(60_000)
    await row(minute, steady)
  }
  await steady.stop()
  // After this time idle connections are closed and free memory is returned.
  await Bun.sleep(65_000)
  await row(Number(values.minutes) + 1, steady)
  await sql.end({ timeout: 1 })
  await stack.close()
})
