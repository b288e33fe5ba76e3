/**
 * The replay as used by people, on the embedded run: however a track arrives, the pilgrim's figures are the
 * same.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Health } from '#shared/contracts/operations.ts'
import { type Embedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { newDirectory, ROOT, runCommand } from '#tests/helpers/process.ts'
import { until } from '#tests/helpers/wait.ts'
import { gpxOf, walk } from './recorded-walk.ts'
import { recompute } from './report.ts'

const WALK = walk(300)
const DRIVE = walk(60, { stepS: 60, kmh: 40 })
const TOKEN = 'token-of-the-replay'

let dir = ''
let service: Embedded
let walkFile: string

beforeAll(async () => {
  dir = await newDirectory('replay')
  walkFile = join(dir, 'walk.gpx')
  await Bun.write(walkFile, gpxOf(WALK))
  await Bun.write(join(dir, 'drive.gpx'), gpxOf(DRIVE))
  service = await startMigratedEmbedded({
    EVENT_ADMIN_TOKEN: TOKEN,
    EVENT_FLUSH_SECONDS: '1',
    EVENT_LIMIT_SYNC: '2',
    EVENT_LIMIT_SYNC_SECONDS: '2',
  })
})
afterAll(async () => {
  await service?.stop()
  service?.remove()
  await rm(dir, { recursive: true })
})

/** Runs the command in a process of its own. @param dataDir where it looks for the certificate */
const run = (args: string, dataDir = service.dataDir) =>
  runCommand([process.execPath, 'tests/tools/replay/replay.ts', ...args.split(' ')], {
    env: { ...process.env, EVENT_DATA_DIR: dataDir, EVENT_PORT: new URL(service.url).port },
  })

async function flushed(): Promise<void> {
  // A report may be a second old: only one with a later flush describes this moment.
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
  const whole = await run(`${walkFile} --user whole`)
  expect(whole.code).toBe(0)
  expect(whole.out).toContain('300 accepted, 0 duplicates, 0 rejected')
  const expected = profileOf(whole.out)
  expect(expected).toContain(`distance    ${km} km`)
  expect(expected).toContain('check-ins   1')

  const shuffled = await run(`${walkFile} --user shuffled --shuffle`)
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
})

test('a drive comes out with the carbon of a bus', async () => {
  const { code, out } = await run(`${join(dir, 'drive.gpx')} --user driver`)
  const { km: driven, kg } = recompute(DRIVE)
  expect(kg).toBeCloseTo(driven * 0.47515, 3)
  expect(code).toBe(0)
  expect(out).toContain(`distance    ${driven.toFixed(2)} km`)
  expect(out).toContain(`carbon      ${kg.toFixed(3)} kg CO2e`)
})

test('more requests than the limit allows: waited out, nothing lost', async () => {
  const long = join(dir, 'long.gpx')
  await Bun.write(long, gpxOf(walk(2_400)))
  const { code, out, err } = await run(`${long} --user patient`)
  expect({ code, track: out.split('\n')[0] }).toEqual({
    code: 0,
    track: 'track       2,400 accepted, 0 duplicates, 0 rejected',
  })
  expect(err).toMatch(/The service answers 429: .* Waiting [12] s\./)
})

test('points that the service will not take are counted by reason, and the exit code says so', async () => {
  const future = new Date(Date.now() + 3_600_000).toISOString()
  const { code, out } = await run(`${walkFile} --user early --half 2 --ends ${future}`)
  expect(code).toBe(1)
  expect(out).toMatch(/rejected \(in-the-future \d+\)/)
})

test('paused: refused in a sentence; resumed, the same times go through', async () => {
  const setStatus = async (status: 'paused' | 'active') => {
    const answer = await service.fetch('/api/event/admin/status', {
      method: 'PUT',
      headers: { 'x-admin-token': TOKEN },
      body: JSON.stringify({ status }),
    })
    expect(answer.status).toBe(200)
  }
  await setStatus('paused')
  const refused = await run(`${walkFile} --user waiting`)
  await setStatus('active')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.err).toMatch(/The service answers 403: .*Resume the event/)
  const [, again] = /To go on, add (--ends \S+Z)/.exec(refused.err)!
  const { code, out } = await run(`${walkFile} --user waiting ${again}`)
  expect({ code, profile: profileOf(out)[0] }).toEqual({ code: 0, profile: `distance    ${km} km` })
})

test('a certificate that nobody vouches for is refused, unless told otherwise', async () => {
  const args = `${walkFile} --user careful --url ${service.url.replace('localhost', '127.0.0.1')}`
  expect(await run(args, dir)).toMatchObject({ code: 1, err: expect.stringContaining('is not trusted') })
  expect(await run(`${args} --ca ${service.caFile}`, dir)).toMatchObject({ code: 0 })
  expect(await run(`${args} --insecure`, dir)).toMatchObject({ code: 0 })
  const [code, err] = [1, expect.stringContaining('walk.gpx holds no certificate')]
  expect(await run(`${args} --ca ${walkFile}`, dir)).toMatchObject({ code, err })
})

test('a dry run shows what the service would count, and sends nothing', async () => {
  const { code, out } = await run(`${walkFile} --dry-run --keep-time --url https://localhost:1`)
  expect(code).toBe(0)
  for (const text of [
    `length      ${km} km`,
    'points      300 (tracks: 1, segments: 1)',
    'recorded    2026-04-12T01:00:00.000Z to 2026-04-12T02:39:40.000Z (1 h 40 min)',
    'requests    2, the track moved to end at 2026-04-12T02:39:40.000Z',
  ])
    expect(out).toContain(text)
})

test('nobody there: tried again after a wait, and told what to check', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      'tests/tools/replay/replay.ts',
      walkFile,
      '--user',
      'u',
      '--url',
      'https://localhost:1',
    ],
    { cwd: ROOT, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let err = ''
  for await (const text of child.stderr.pipeThrough(new TextDecoderStream()))
    if ((err += text).includes('Waiting 2 s.')) break
  child.kill()
  expect(err).toMatch(/https:\/\/localhost:1: .*Check --url.* Waiting 1 s\./)
})

test('no such file', async () => {
  const { code, err } = await run(`${join(dir, 'none.gpx')} --user u`)
  expect(code).toBe(1)
  expect(err).toMatch(/^The file cannot be read: .*none\.gpx/)
})

describe('a wrong command line is refused with exit code 2, naming the option', () => {
  test.concurrent.each([
    ['--user u', /Name the file/],
    ['w', /--user/],
    ['w v --user u', /'v'/],
    ['w --user a/b', /--user/],
    ['w --user u --url http://localhost', /HTTPS/],
    ['w --user u --url https://x/?a=1', /--url/],
    ['w --user u --ends 2026-04-12T09:30:00', /zone/],
    ['w --user u --ends 2026-04-12T09:30:00Z --keep-time', /--ends and --keep-time/],
    ['w --user u --speed 0.5', /--speed/],
    ['w --user u --speed 2 --shuffle', /--speed and --shuffle/],
    ['w --user u --half 3', /--half/],
    ['w --user u --ca x --insecure', /--ca and --insecure/],
  ])('%p', async (args, sentence) => {
    const { code, err } = await run(args)
    expect(code).toBe(2)
    expect(err).toMatch(sentence)
  })
})
