/** A backup of a running test stack, restored into another one, which then returns the same responses. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { makeTokenEndpoint } from '#shared/contracts/supervision.ts'
import { createTrackerEndpoint } from '#shared/contracts/trackers.ts'
import type { Environment } from '#shared/runtime/config/config.ts'
import { png } from '#tests/feedback-media/pictures.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { openTestDatabase, testRedisUrl } from '#tests/helpers/database.ts'
import { MINUTE, post, walk } from '#tests/helpers/pilgrim.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import {
  admin,
  callAs,
  checkIn,
  flushed,
  setStatus,
  SETTINGS,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

type Kind = TestStack['kind']

/** An installation: test stacks are opened on it, and commands run for it. */
interface Place {
  readonly settings: Environment
  open(): Promise<TestStack>
  remove(): Promise<void>
}

async function placeOf(kind: Kind): Promise<Place> {
  const dir = await newDirectory('backup')
  const database = kind === 'real' ? await openTestDatabase() : null
  const stores = database === null ? {} : { DATABASE_URL: database.url, REDIS_URL: await testRedisUrl() }
  const settings = { EVENT_DATA_DIR: dir, ...stores }
  return {
    settings,
    open: () => (kind === 'real' ? openRealTestStack({ settings }) : openEmbeddedTestStack(settings)),
    async remove() {
      await database?.drop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Runs `bun services/admin/<command>.ts` with a place's settings. @returns what it printed */
async function run(place: Place, command: 'backup' | 'restore', ...args: string[]): Promise<string> {
  const { PATH, HOME, TMPDIR } = process.env
  const { code, out, err } = await runCommand([process.execPath, `services/admin/${command}.ts`, ...args], {
    env: { PATH, HOME, TMPDIR, ...SETTINGS, ...place.settings },
  })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out
}

const CARD = '/api/event/og/anna.png'
const PEOPLE = ['anna', 'ben', 'chi', 'gone']

/** @returns the path of a screenshot, and keys and tokens that must not be in a backup */
async function live(stack: TestStack): Promise<{ screenshot: string; keys: string[] }> {
  const now = Date.now()
  for (const [i, user_id] of PEOPLE.entries()) {
    await post(stack, 'user/sync', {
      user_id,
      display_name: `${user_id} 雨`,
      consumption: { water: i },
      transport: { car: 1.5 },
    })
    await post(stack, 'user/phone', { user_id, phone: `091234567${i}` })
    await post(stack, 'privacy', { user_id, version: '1' })
    await post(stack, 'submit', { user_id, q1: ['a', 'b'], q2: i })
    await syncTrack(stack, user_id, walk(30, now - i * MINUTE))
    for (let n = 0; n < 4; n++)
      await checkIn(stack, user_id, { timestamp: now - (n + 1) * 5 * MINUTE, mode: 'bus' })
  }
  const { key } = await dataOf(await post(stack, 'trackers', { user_id: 'anna' }), createTrackerEndpoint)
  const { token } = await dataOf(
    await callAs(stack, 'owner', 'POST', 'admin/tokens', { name: 'lin', role: 'manager' }),
    makeTokenEndpoint,
  )
  const upload = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: png(16, 16) })
  const { data } = (await upload.json()) as { data: { url: string } }
  await post(stack, 'feedback', {
    user_id: 'anna',
    category: 'map',
    description: '=1+1',
    screenshot_url: data.url,
  })
  const manager = { ...admin('manager'), 'Content-Type': 'application/json' }
  const role = JSON.stringify({ user_id: 'ben', role: 'volunteer' })
  await stack.fetch('/api/event/admin/roles', { method: 'POST', headers: manager, body: role })
  await post(stack, 'participant-status', { user_id: 'chi', status: 'withdrawn' })
  await flushed(stack)
  await post(stack, 'og-image', { user_id: 'anna' })
  await callAs(stack, 'owner', 'DELETE', 'admin/users/gone')
  // Points that the backup finds pending, or just stored.
  for (const user_id of ['anna', 'new'])
    await checkIn(stack, user_id, { timestamp: now - MINUTE, track_points: walk(3, now - 2 * MINUTE) })
  // A pilgrim with pending points only has no row before the next flush.
  await post(stack, 'user/sync', { user_id: 'new' })
  await setStatus(stack, { status: 'paused', message: 'We rest.' })
  return { screenshot: new URL(data.url).pathname, keys: [key, token] }
}

/** Fields that differ by design: times of the response, and later actions of operators. */
const OF_THE_MOMENT = /"(as_of|generated_at)":"[^"]*"|\{[^{}]*"action":"restore"[^{}]*\{[^{}]*\}[^{}]*\},/g

/** Every response that depends on stored data. */
async function answers(stack: TestStack, screenshot: string): Promise<Record<string, string>> {
  const paths = [
    ...[...PEOPLE, 'new'].map((id) => `/api/event/user/${id}`),
    ...['users?limit=200', 'carbon', 'timeline', 'surveys', 'roles', 'status', 'audit'].map(
      (path) => `/api/event/admin/${path}`,
    ),
    '/api/event/feedback',
    '/api/event/feedback/status',
    '/api/event/photos/count?user_id=anna',
    '/api/event/data',
    CARD,
    screenshot,
  ]
  // A busy renderer briefly serves the previous card.
  await until(
    async () => !/max-age=5\b/.test((await stack.fetch(CARD)).headers.get('cache-control') ?? ''),
    'the card of this moment',
    { timeoutMs: 60_000 },
  )
  const said = paths.map(async (path) => {
    const answer = await stack.fetch(path, { headers: admin('owner') })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    // The map omits names while the database is slow.
    const isMap = path === '/api/event/data'
    const moment = isMap ? /"(id|display_name|generated_at)":("[^"]*"|null)/g : OF_THE_MOMENT
    const text = isJson ? bytes.toString().replaceAll(moment, '') : bytes.toString('base64')
    // Positions of the same instant have no order.
    const said = isMap ? [...text.matchAll(/\{[^{}]*"recorded_at"[^{}]*\}/g)].map(String).sort().join() : text
    return [path, `${answer.status} ${said.replace(/"request_id":"[^"]*"/, '')}`] as const
  })
  return Object.fromEntries(await Promise.all(said))
}

const PAIRS: [Kind, Kind][] = embeddedOnly
  ? [['embedded', 'embedded']]
  : [
      ['embedded', 'real'],
      ['real', 'embedded'],
    ]

for (const [from, to] of PAIRS)
  test(`a backup of the running ${from} stack restores to the ${to} one, and every answer is the same`, async () => {
    const [source, target] = [await placeOf(from), await placeOf(to)]
    const stack = await source.open()
    const { screenshot, keys } = await live(stack)
    const folder = join(await newDirectory('backups'), 'new')
    expect(await run(source, 'backup', '--to', folder)).toMatch(
      /\.jsonl\.zst: 4 pilgrims, \d+ points stored, \d+ waiting, 2 objects/,
    )
    await flushed(stack)
    const before = await answers(stack, screenshot)
    await stack.close()

    const file = join(folder, readdirSync(folder)[0]!)
    const text = zstdDecompressSync(readFileSync(file)).toString()
    expect(text).toContain('anna')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    // It contains hashes of keys and tokens, and nothing about erased people.
    for (const absent of ['token-of-', 'gone', ...keys]) expect(text).not.toContain(absent)
    expect(await run(target, 'restore', '--from', file)).toMatch(/^Restored as of .*The event is paused\.\n$/)
    const restored = await target.open()
    await flushed(restored)
    expect(await answers(restored, screenshot)).toEqual(before)
    expect(before['/api/event/user/gone']).toStartWith('404')
    expect(before[CARD]).toStartWith('200 iVBOR')
    expect(before[screenshot]).toStartWith('200 iVBOR')
    expect((await checkIn(restored, 'late')).status).toBe(403)
    await setStatus(restored, { status: 'active' })
    expect((await checkIn(restored, 'anna')).status).toBe(202)
    await restored.close()
    await Promise.all([source.remove(), target.remove()])
  }, 180_000)
