/** The replay against the embedded run: however a track arrives, the pilgrim comes out the same. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { recompute } from './report.ts'
import { Health } from '#shared/contracts/operations.ts'
import { startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { until } from '#tests/helpers/wait.ts'
import { gpxOf, walk } from './recorded-walk.ts'

const WALK = walk(300)
const DRIVE = walk(60, { stepS: 60, kmh: 40 })
const TOKEN = 'token-of-the-replay'
const SYNCS = 10

let dir = ''
let service: Awaited<ReturnType<typeof startMigratedEmbedded>>

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'replay-embedded-'))
  await Bun.write(join(dir, 'walk.gpx'), gpxOf(WALK))
  await Bun.write(join(dir, 'drive.gpx'), gpxOf(DRIVE))
  service = await startMigratedEmbedded({
    EVENT_ADMIN_TOKEN: TOKEN,
    EVENT_FLUSH_SECONDS: '1',
    EVENT_LIMIT_SYNC: String(SYNCS),
    EVENT_LIMIT_SYNC_SECONDS: '2',
  })
})
afterAll(async () => {
  await service.stop()
  service.remove()
  await rm(dir, { recursive: true })
})

/** Runs the command as people do, in a process of its own that finds the certificate by itself. */
async function run(line: string) {
  const child = Bun.spawn(['bun', 'tests/replay/replay.ts', ...line.split(' ')], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, EVENT_DATA_DIR: service.dataDir, EVENT_PORT: new URL(service.url).port },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

async function flushed(): Promise<void> {
  // A report may be a second old: only one that knows of a later flush tells of this moment.
  const calledAt = new Date().toISOString()
  await until(async () => {
    const { buffer_size, last_flush } = Health.parse(await (await service.fetch('/health')).json())
    return buffer_size === 0 && (last_flush ?? '') > calledAt
  }, 'the flush to empty the buffer')
}

const profileOf = (out: string): string[] =>
  out.split('\n').filter((line) => /^(distance|check-ins|level|carbon)/.test(line))

const km = recompute(WALK).km.toFixed(2)

test('in order, shuffled, twice, and in two halves around a flush: one check-in, the same kilometres', async () => {
  const walkFile = join(dir, 'walk.gpx')
  const whole = await run(`${walkFile} --user whole`)
  expect(whole.code).toBe(0)
  expect(whole.out).toContain('300 accepted, 0 duplicates, 0 rejected')
  const expected = profileOf(whole.out)
  expect(expected).toContain(`distance    ${km} km`)
  expect(expected).toContain('check-ins   1')

  const shuffled = await run(`${walkFile} --user shuffled --shuffle --seed 3`)
  expect({ code: shuffled.code, profile: profileOf(shuffled.out) }).toEqual({ code: 0, profile: expected })

  const twice = await run(`${walkFile} --user twice --repeat`)
  expect(twice.out).toContain('300 accepted, 300 duplicates, 0 rejected')
  expect({ code: twice.code, profile: profileOf(twice.out) }).toEqual({ code: 0, profile: expected })

  const ends = new Date().toISOString()
  const second = await run(`${walkFile} --user halves --half 2 --ends ${ends}`)
  expect(second.code).toBe(0)
  await flushed()
  const first = await run(`${walkFile} --user halves --half 1 --ends ${ends}`)
  expect({ code: first.code, profile: profileOf(first.out) }).toEqual({ code: 0, profile: expected })
  await flushed()
})

test('a drive comes out with the carbon of a bus', async () => {
  const { code, out } = await run(`${join(dir, 'drive.gpx')} --user driver`)
  const { km: driven, kg } = recompute(DRIVE)
  expect(code).toBe(0)
  expect(out).toContain(`distance    ${driven.toFixed(2)} km`)
  expect(out).toContain(`carbon      ${kg.toFixed(3)} kg CO2e`)
})

test('more batches than the limit allows: waited out, nothing lost', async () => {
  const { code, out, err } = await run(`${join(dir, 'walk.gpx')} --user patient --batch 12`)
  expect(Math.ceil(WALK.length / 12)).toBeGreaterThan(2 * SYNCS)
  expect({ code, profile: profileOf(out)[0] }).toEqual({ code: 0, profile: `distance    ${km} km` })
  expect(err).toMatch(/The service answers 429: .* Waiting [12] s\./)
})

test('points that the service will not take are counted by reason, and the exit code says so', async () => {
  const future = new Date(Date.now() + 3_600_000).toISOString()
  const { code, out } = await run(`${join(dir, 'walk.gpx')} --user early --half 2 --ends ${future}`)
  expect(code).toBe(1)
  expect(out).toMatch(/rejected \(in-the-future \d+\)/)
})

test('paused: refused in a sentence; resumed, the same times go through', async () => {
  const setStatus = async (status: 'paused' | 'active') => {
    const answer = await fetch(`${service.url}/api/event/admin/status`, {
      method: 'PUT',
      headers: { 'x-admin-token': TOKEN },
      body: JSON.stringify({ status }),
      tls: { ca: await Bun.file(service.caFile).text() },
    })
    expect(answer.status).toBe(200)
  }
  await setStatus('paused')
  const refused = await run(`${join(dir, 'walk.gpx')} --user waiting`)
  await setStatus('active')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toMatch(/The service answers 403: .*Resume the event/)
  const [, again] = /To go on, add (--ends \S+Z)/.exec(refused.err)!
  const { code, out } = await run(`${join(dir, 'walk.gpx')} --user waiting ${again}`)
  expect({ code, profile: profileOf(out)[0] }).toEqual({ code: 0, profile: `distance    ${km} km` })
})

test('a certificate that nobody vouches for is refused, unless told otherwise', async () => {
  const address = service.url.replace('localhost', '127.0.0.1')
  const line = `${join(dir, 'walk.gpx')} --user careful --url ${address}`
  const elsewhere = { ...process.env, EVENT_DATA_DIR: dir }
  const spawn = (args: readonly string[]) =>
    Bun.spawn(['bun', 'tests/replay/replay.ts', ...line.split(' '), ...args], {
      cwd: join(import.meta.dir, '../..'),
      env: elsewhere,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  const untrusted = spawn([])
  expect(await new Response(untrusted.stderr).text()).toContain('is not trusted')
  expect(await untrusted.exited).toBe(1)
  expect(await spawn(['--ca', service.caFile]).exited).toBe(0)
  expect(await spawn(['--insecure']).exited).toBe(0)
})
