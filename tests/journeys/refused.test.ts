/** Rejected requests: the order of the checks, and the error sentences. */
import { describe, expect, test } from 'bun:test'
import { type Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { isNumeric, MEASUREMENTS } from '#shared/contracts/gps-points.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { admin, checkIn, newPilgrimId, PLACE, setStatus } from '#tests/helpers/test-stack.ts'

/** One byte more than an endpoint accepts. */
const tooLarge = ({ bodyBytes }: Endpoint): string => 'a'.repeat((bodyBytes ?? 102_400) + 1)
const filled = (path: string) => path.replaceAll(/:\w+/g, 'someone')
const streamed = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (let i = 0; i < text.length; i += 40_000)
        controller.enqueue(new TextEncoder().encode(text.slice(i, i + 40_000)))
      controller.close()
    },
  })
const WAYS: readonly (readonly [name: string, body: (text: string) => BodyInit])[] = [
  ['with Content-Length', (text) => text],
  ['in chunks', streamed],
]

const DAY_MS = 86_400_000
const NUL = 'a\u0000b'
const SURROGATE = 'a\ud800b'

const BAD_IDS = ['', '.', '..', 'a/b', 'a b', 'é', 'a'.repeat(129), 7, true, {}, ['a'], NUL, SURROGATE]
const BAD_LABELS = (max: number) => [7, {}, 'x'.repeat(max + 1), NUL, SURROGATE]
const BAD_MEASURES = ['5', true, [], 1e10, -1e10, 1e308]

/** Invalid values by field. */
const BAD_CHECK_IN: Record<string, readonly unknown[]> = {
  user_id: [...BAD_IDS, undefined, null],
  lat: [undefined, null, '24', true, 90.001, -90.001, 1e308, [24]],
  lng: [undefined, null, '120', false, 180.001, -180.001, 1e308, {}],
  timestamp: [
    'yesterday',
    '',
    '2026-04-12T10:00:00',
    '2026-02-30T10:00:00Z',
    '2026-04-12',
    '2026:13:01 10:00:00',
    NUL,
    true,
    {},
    [],
    -1,
    1e20,
    // Rejected until an hour after this file was loaded.
    Date.now() + DAY_MS + 36e5,
    Date.now() - 31 * DAY_MS,
    '1'.repeat(65),
  ],
  ...Object.fromEntries(MEASUREMENTS.filter(isNumeric).map((name) => [name, BAD_MEASURES])),
  mode: BAD_LABELS(32),
  // A longer one is truncated.
  source: [7, {}, NUL, SURROGATE],
}
const BAD_SYNC: Record<string, readonly unknown[]> = {
  user_id: BAD_CHECK_IN.user_id!,
  points: [undefined, null, 'none', 7, {}, true, [], Array(5_001).fill(1)],
}
const BAD_STATUS: Record<string, readonly unknown[]> = {
  status: [undefined, null, 'ended', 'ACTIVE', '', 7, {}, ['paused']],
  message: [7, {}, 'x'.repeat(501), NUL, SURROGATE],
}
const BAD_QUERY: Record<string, readonly string[]> = {
  limit: ['0', '5001', '-1', '1.5', 'all', '', '1,2', '%00'],
  since: ['yesterday', '2026-04-12', '2026-04-12T10:00:00', '', '0'],
  bbox: [
    '',
    '1,2,3',
    '1,2,3,4,5',
    'a,b,c,d',
    '1,2,,4',
    '10,0,0,10',
    '0,10,10,0',
    '0,0,181,10',
    '0,0,10,91',
    '[0,0,1,1]',
  ],
}

const post = (body: BodyInit, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', ...headers },
  body,
})

const naming = (field: string): RegExp => new RegExp(`${field}(: | is missing)`)

describeBothStacks('refusals', (stack) => {
  describe('the order of checks', () => {
    test.each(WAYS)('every endpoint first refuses a body that is too large, %s', async (_, body) => {
      for (const endpoint of ENDPOINTS.filter(({ method }) => method !== 'GET'))
        for (const headers of [{}, { 'X-Admin-Token': 'no token of this event' }]) {
          const { method, path } = endpoint
          const sent = { method, headers, body: body(tooLarge(endpoint)) }
          await sentenceOf(await stack.fetch(filled(path), sent), 413, 'too-large')
        }
    })

    test('the caller is checked before the content of the body', async () => {
      for (const { method, path, access, bodyKind } of ENDPOINTS)
        if (bodyKind === 'json' && access !== 'public' && access !== 'optional')
          await sentenceOf(await stack.fetch(filled(path), { method, body: '{"cut' }), 401, 'unauthorized')
    })
  })

  describe('refusals', () => {
    describe('a malformed request', () => {
      const cases = (table: Record<string, readonly unknown[]>) => Object.entries(table)

      test.each(cases(BAD_CHECK_IN))('checkin, %s: 400 that names it', async (field, values) => {
        for (const value of values) {
          const answer = await checkIn(stack, newPilgrimId(), { [field]: value })
          expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(naming(field))
        }
      })

      test.each(cases(BAD_SYNC))('track/sync, %s: 400 that names it', async (field, values) => {
        for (const value of values) {
          const body = {
            user_id: newPilgrimId(),
            points: [{ ...PLACE, timestamp: Date.now() }],
            [field]: value,
          }
          const answer = await stack.fetch('/api/event/track/sync', post(JSON.stringify(body)))
          expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(naming(field))
        }
      })

      test.each(cases(BAD_STATUS))('admin/status, %s: 400 that names it', async (field, values) => {
        for (const value of values) {
          const answer = await setStatus(stack, { status: 'active', [field]: value })
          expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(naming(field))
        }
      })

      test.each(Object.entries(BAD_QUERY))('data, %s: 400 that names it', async (field, values) => {
        for (const value of values) {
          const answer = await stack.fetch(`/api/event/data?${field}=${value}`)
          expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(naming(field))
        }
      })

      test('several bad fields are named together', async () => {
        const answer = await checkIn(stack, newPilgrimId(), { lat: 91, lng: 'east', mode: 7 })
        expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(/lat: .*; lng: .*; mode: /)
      })

      test('the error says in plain words what a field must be', async () => {
        const told = async (path: string, body: unknown) =>
          sentenceOf(await stack.fetch(path, post(JSON.stringify(body))), 400, 'invalid-request')
        const user_id = newPilgrimId()
        expect(await told('/api/event/checkin', { user_id, lat: 91, lng: 'east' })).toBe(
          'lat: must be at most 90; lng: must be a number',
        )
        expect(await told('/api/event/checkin', { user_id, lat: 24 })).toBe('lng is missing')
        expect(await told('/api/event/track/sync', { user_id, points: [] })).toBe(
          'points: must have at least 1 entry',
        )
        expect(await told('/api/event/checkin', PLACE)).toBe('user_id is missing')
        expect(await told('/api/event/checkin', { user_id: null, ...PLACE })).toBe('user_id is missing')
        for (const timestamp of [{}, [], true, 'x'.repeat(65), 'tomorrow'])
          expect(await told('/api/event/checkin', { user_id, ...PLACE, timestamp })).toBe(
            'timestamp: must be ISO 8601 with a zone, epoch milliseconds, or YYYY:MM:DD HH:MM:SS',
          )
        const seconds = Math.floor(Date.now() / 1_000)
        for (const timestamp of [seconds, `${seconds}`, `${seconds}.25`])
          expect(await told('/api/event/checkin', { user_id, ...PLACE, timestamp })).toBe(
            'timestamp: looks like seconds: send milliseconds',
          )
        expect(await told('/api/event/participant-status', { user_id, status: 'gone' })).toBe(
          'status: must be "active" or "completed" or "withdrawn"',
        )
        const empty = await stack.fetch('/api/event/checkin', post(''))
        expect(await sentenceOf(empty, 400, 'invalid-request')).toBe('body is missing; send JSON')
      })

      test.each(['a%20b', 'a%2Fb', '%00', '%E4%BD%A0', 'a'.repeat(129), 'a,b', '%2E%2E%2Fadmin'])(
        'user/%s: 400 or 404, never a profile',
        async (id) => {
          const answer = await stack.fetch(`/api/event/user/${id}`)
          const code = answer.status === 404 ? 'not-found' : 'invalid-request'
          await sentenceOf(answer, answer.status === 404 ? 404 : 400, code)
        },
      )

      const BODIES: readonly [name: string, body: BodyInit][] = [
        ['nothing', ''],
        ['cut JSON', '{"user_id":"a","lat":'],
        ['no JSON', 'user_id=a&lat=24&lng=120'],
        ['a list', '[]'],
        ['a string', '"a"'],
        ['a number', '7'],
        ['null', 'null'],
        [
          'bytes that are not UTF-8',
          new Uint8Array([...Buffer.from('{"user_id":"'), 0xff, ...Buffer.from('"}')]),
        ],
        ['two values', '{}{}'],
        ['a byte order mark in UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])],
      ]
      test.each(BODIES)('%s as a body: 400', async (_, body) => {
        for (const path of ['/api/event/checkin', '/api/event/track/sync'])
          await sentenceOf(await stack.fetch(path, post(body)), 400, 'invalid-request')
        const init = { ...post(body, admin('owner')), method: 'PUT' }
        await sentenceOf(await stack.fetch('/api/event/admin/status', init), 400, 'invalid-request')
      })

      test('two different ids: 400 that names one', async () => {
        for (const ids of [
          { user_id: 'a', userId: 'b' },
          { userId: 'a', line_user_id: 'b' },
          { user_id: 'a', line_user_id: 'A' },
        ])
          for (const path of ['/api/event/checkin', '/api/event/track/sync']) {
            const answer = await stack.fetch(path, post(JSON.stringify({ ...PLACE, ...ids })))
            expect(await sentenceOf(answer, 400, 'invalid-request')).toMatch(/(userId|line_user_id): /)
          }
        const headers = { 'X-Line-User-Id': 'not an id' }
        const answer = await stack.fetch('/api/event/checkin', post(JSON.stringify(PLACE), headers))
        expect(await sentenceOf(answer, 400, 'invalid-request')).toContain('user_id: ')
      })
    })

    describe('a caller', () => {
      const ask = (method: string, path: string, headers: Record<string, string>) =>
        stack.fetch(path, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) })

      test('a wrong token: 401, also where no token is needed; a right one is accepted afterwards', async () => {
        for (const path of ['/api/event/auth/role', '/api/event/admin/status', '/api/event/data'])
          await sentenceOf(await ask('GET', path, { 'X-Admin-Token': 'guess' }), 401, 'unauthorized')
        const started = performance.now()
        await sentenceOf(
          await ask('GET', '/api/event/auth/role', { 'X-Admin-Token': 'guess' }),
          401,
          'unauthorized',
        )
        expect(performance.now() - started).toBeWithin(50, 10_000)
        expect((await ask('GET', '/api/event/auth/role', admin('volunteer'))).status).toBe(200)
      })

      test('the thirty-first call of a token within a minute: 429; invalid calls count, other tokens are not affected', async () => {
        const mine = admin('volunteer')
        for (let i = 0; i < 15; i++) {
          expect((await ask('GET', '/api/event/auth/role', mine)).status).toBe(200)
          await sentenceOf(await ask('PUT', '/api/event/admin/status', mine), 403, 'forbidden')
        }
        const refused = await ask('GET', '/api/event/auth/role', mine)
        await sentenceOf(refused, 429, 'rate-limited')
        expect(refused.headers.get('ratelimit-policy')).toBe('"admin";q=30;w=60')
        expect((await ask('GET', '/api/event/auth/role', admin('volunteer'))).status).toBe(200)
      })

      test('the error for a token of a lower tier names the tier that is needed', async () => {
        const audit = await ask('GET', '/api/event/admin/audit', admin('manager'))
        expect(await sentenceOf(audit, 403, 'forbidden')).toBe('This needs the token of an owner.')
        const users = await ask('GET', '/api/event/admin/users', admin('volunteer'))
        expect(await sentenceOf(users, 403, 'forbidden')).toBe('This needs the token of a manager or above.')
      })

      test('an unknown pilgrim: 404', async () => {
        await sentenceOf(await stack.fetch(`/api/event/user/${newPilgrimId()}`), 404, 'not-found')
      })
    })
  })
})
