/**
 * Every read endpoint while Redis is down (closed or frozen) and while Postgres is down: degraded, not down.
 * An incomplete response is marked, a possibly wrong one is a 503, and both come in time.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { createShareEndpoint } from '#shared/contracts/shares.ts'
import { pushEndpoint } from '#shared/contracts/messages.ts'
import { userSyncEndpoint } from '#shared/contracts/profile.ts'
import { checkInEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { logsOf, type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import { admin, callAs, checkIn, flushed, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { newTracker } from '#tests/helpers/trackers.ts'
import { until } from '#tests/helpers/wait.ts'
import { outcomesOf } from './degraded-table.ts'

/** At most two calls of Redis, 0.8 s each; the rest is for a busy machine. */
const IN_TIME_MS = 4_000
const OUTAGE_MS = 90_000

const READING = ENDPOINTS.filter(({ method }) => method === 'GET')

/** Fields that change with time or with each read. */
const MOMENTARY = new Set([
  'as_of',
  'generated_at',
  'exported_at',
  'pending',
  'request_id',
  'updated_at',
  // Only Redis knows it.
  'last_used_at',
])
const CHANGING = new Set([
  '/api/event/admin/audit',
  // Each call is made by another operator.
  '/api/event/auth/role',
  '/api/event/data',
  '/api/event/map',
  '/health',
  '/api/event/admin/condition',
  '/api/event/admin/last-hour',
  '/api/event/admin/tokens',
])

/** Responses that are cached, or that depend on the current time. */
const KEPT = new Set(['/health', '/api/event/data', '/api/event/admin/carbon'])

interface Answer {
  readonly status: number
  readonly body: string
  readonly ms: number
}

const lasting = (body: string): unknown =>
  JSON.parse(body, (name, value: unknown) => (MOMENTARY.has(name) ? undefined : value))

function isMarked(body: string): boolean {
  const found = JSON.parse(body) as { pending?: unknown; data?: { pending?: unknown } }
  return (found.data === undefined ? found.pending : found.data.pending) === null
}

/** An app id, which nobody else can know. */
const APP_ID = 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye'

function queryOf(path: string, userId: string): string {
  if (path.endsWith('/count')) return `?user_id=${userId}`
  if (/\/(shares|trackers|push-subscriptions)$/.test(path)) return `?user_id=${APP_ID}`
  return path.endsWith('/left-out') ? '?audience=all' : ''
}

/** A picture large enough for a screenshot. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

describeOnServers('reading', () => {
  let stack: OwnedTestStack
  let userId: string
  let parameters: Record<string, string>
  let before: Map<string, Answer>

  const ask = async ({ path, media, access }: Endpoint): Promise<Answer> => {
    const values: Record<string, string> = {
      ...parameters,
      ...(path.includes('/og/') ? { file: `${userId}.png` } : {}),
      ...(path.startsWith('/s/') ? { file: parameters.share! } : {}),
    }
    const filled = path
      .replace('dead-letters/:id', 'dead-letters/1')
      .replaceAll(/:(\w+)/g, (_, name: string) => values[name]!)
    const query = queryOf(path, userId)
    const startedMs = performance.now()
    const headers = access === 'public' ? {} : admin('owner')
    const answer = await stack.fetch(filled + query, { headers })
    if (media === 'text/event-stream') await answer.body!.cancel()
    const body = media === 'text/event-stream' ? '' : await answer.text()
    return { status: answer.status, body, ms: performance.now() - startedMs }
  }
  const askAll = async () =>
    new Map(await Promise.all(READING.map(async (one) => [one.path, await ask(one)] as const)))

  beforeAll(async () => {
    stack = await openOwnedTestStack({
      settings: { EVENT_LIMIT_ADDRESS_WRITE: '1000000', EVENT_LIMIT_ADMIN: '1000000' },
    })
    userId = newPilgrimId()
    await dataOf(await checkIn(stack, userId), checkInEndpoint)
    await post(stack, 'user/sync', { user_id: userId, display_name: 'Known' })
    await post(stack, 'submit', { user_id: userId, q1: 'yes' })
    await flushed(stack)
    await post(stack, 'og-image', { user_id: userId })
    const upload = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: PNG })
    const { filename } = await dataOf(upload, uploadScreenshotEndpoint)
    const pushed = await callAs(stack, 'owner', 'POST', 'push', { user_ids: [userId], text: 'x' })
    const { id } = await dataOf(pushed, pushEndpoint)
    const { id: share } = await dataOf(await post(stack, 'shares', { user_id: userId }), createShareEndpoint)
    const { key } = await newTracker(stack, userId)
    const dutch = { language: 'nl', texts: { 'walk.back': 'Terug' }, version: 0 }
    await callAs(stack, 'owner', 'PUT', 'admin/settings/translation', dutch)
    parameters = { userId, key, file: filename, id: id!, share, language: 'nl' }
    await until(
      async () => (await ask(READING.find(({ path }) => path === '/api/event/data')!)).status === 200,
      'the live map',
    )
    const statuses = () => Object.fromEntries(Array.from(before, ([path, { status }]) => [path, status]))
    const wanted = Object.fromEntries(
      READING.map(({ path }) => [path, path.endsWith('/dead-letters/:id') ? 404 : 200]),
    )
    // With all probes at once on a busy machine, one can exceed its timeout.
    await until(
      async () => Bun.deepEquals(((before = await askAll()), statuses()), wanted),
      'every answer before an outage',
    ).catch(() => expect(statuses()).toEqual(wanted))
  }, 2 * STACK_TIMEOUT_MS)
  afterAll(async () => stack?.close())
  afterEach(async () => {
    // The failure of one test must not make the next ones fail.
    for (const store of [stack.postgres, stack.redis]) await store.restart()
    await recovered(stack)
  })

  /** Compares all endpoints with one column of the table, after the live map and cached answers have expired. */
  const expectColumn = async (column: 0 | 1): Promise<void> => {
    const kept = READING.filter(({ path }) => KEPT.has(path))
    const settled = async () => {
      // Several times, because each replica has its own cache.
      const answers = await Promise.all(
        [kept, kept, kept].flat().map(async (one) => ({ one, status: (await ask(one)).status })),
      )
      return answers.every(
        ({ one, status }) => (outcomesOf(one.path)[column] === 'away') === (status === 503),
      )
    }
    await until(settled, 'what is kept to grow old', { everyMs: 500 })
    const [seen, expected]: unknown[][] = [[], []]
    for (const [path, { status, body, ms }] of await askAll()) {
      const [outcome, was] = [outcomesOf(path)[column], before.get(path)!]
      const compared = outcome !== 'away' && !CHANGING.has(path) && body.startsWith('{')
      seen!.push({
        path,
        status,
        inTime: column === 1 || ms < IN_TIME_MS,
        marked: compared && isMarked(body),
        said: compared ? lasting(body) : null,
      })
      expected!.push({
        path,
        status: outcome === 'away' ? 503 : was.status,
        inTime: true,
        marked: compared && outcome === 'marked',
        said: compared ? lasting(was.body) : null,
      })
    }
    expect(seen).toEqual(expected)
  }

  /** Reads directly after a write, and rejected requests. */
  const expectPilgrims = async (): Promise<void> => {
    const synced = await post(stack, 'user/sync', { user_id: userId, display_name: 'Known' })
    expect(await dataOf(synced, userSyncEndpoint)).toMatchObject({ pending: null, checkins: 1 })
    const stranger = newPilgrimId()
    const path = `/api/event/admin/users/${stranger}`
    await sentenceOf(await stack.fetch(`/api/event/user/${stranger}`), 503, 'unavailable')
    for (const more of ['', '/export'])
      await sentenceOf(await stack.fetch(path + more, { headers: admin('owner') }), 503, 'unavailable')
    const gpx = `/api/event/admin/users/${userId}/export?format=gpx`
    expect(await (await stack.fetch(gpx, { headers: admin('owner') })).text()).toContain('Incomplete')
  }

  test(
    'with Redis closed',
    async () => {
      await stack.redis.stop()
      await expectColumn(0)
      await expectPilgrims()
      await stack.redis.restart()
      await recovered(stack)
      // Each service reconnects separately, up to a second apart, and the health report knows the
      // connection of one.
      await until(
        async () => !('pending' in (await profileOf(stack, userId))),
        'the profile with the points of the buffer',
      )
    },
    OUTAGE_MS,
  )

  test(
    'with Redis frozen',
    async () => {
      stack.redis.pause()
      await expectColumn(0)
      await expectPilgrims()
      stack.redis.resume()
    },
    OUTAGE_MS,
  )

  test(
    'with Postgres closed',
    async () => {
      await stack.postgres.stop()
      await expectColumn(1)
    },
    OUTAGE_MS,
  )

  test('no log of a service or of Caddy has the address of a link, the key of a tracker or the id of a pilgrim', () => {
    const words = [parameters.share!, parameters.key!, userId]
    for (const { name, log } of logsOf(stack)) {
      expect({ name, isEmpty: log === '' }).toEqual({ name, isEmpty: false })
      for (const word of words) expect({ name, holds: log.includes(word) }).toEqual({ name, holds: false })
    }
  })
})
