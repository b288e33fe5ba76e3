/** Input is only ever text: for the database, spreadsheets, browsers and other clients. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { encodeCursor } from '#shared/service/http/pagination.ts'
import { sentenceOf } from '#tests/helpers/answers.ts'
import { admin, checkIn, newPilgrimId, type TestStack } from '#tests/helpers/test-stack.ts'
import { STRINGS } from './json.ts'

const post = (stack: TestStack, path: string, body: unknown, headers: Record<string, string> = {}) =>
  stack.fetch(`/api/event/${path}`, { method: 'POST', body: JSON.stringify(body), headers })
const read = (stack: TestStack, path: string, headers: Record<string, string> = {}) =>
  stack.fetch(`/api/event/${path}`, { headers: { ...admin('owner'), ...headers } })

/** Lists of operators, each with its cursor parameter and a forged position. */
const CURSORS: readonly (readonly [path: string, list: string])[] = [
  ['admin/users?', 'users:userId:asc'],
  ['admin/users?sort=km&order=desc&', 'users:km:desc'],
  ['admin/users?sort=checkins&order=asc&', 'users:checkins:asc'],
  ['admin/users?sort=last_seen&order=desc&', 'users:last_seen:desc'],
  ['admin/surveys?', 'surveys'],
  ['admin/roles?', 'roles'],
  ['admin/audit?', 'audit'],
  ['admin/dead-letters?', 'dead-letters'],
  ['feedback?', 'feedback'],
  ['feedback/status?', 'board'],
]
const POSITIONS: readonly (readonly unknown[])[] = [
  ...[
    "'; DROP TABLE pilgrims; --",
    '\u0000',
    '\ud800',
    'x',
    '1e999',
    '-1',
    '9'.repeat(40),
    '2026-13-45',
  ].flatMap((text) => [[text], [text, text], ['0', text]]),
  [-1],
  [2 ** 31],
  [2 ** 53 - 1],
  [2 ** 53],
  [1.5],
  [null],
  [[]],
  [{}],
  [],
]

function databases(stack: TestStack): void {
  test('SQL in a search, a sort or a cursor is treated as text', async () => {
    const userId = newPilgrimId()
    await post(stack, 'user/sync', { user_id: userId, display_name: "O'Neil % _ \\ $1" })
    for (const search of ["' OR 1=1 --", "') OR TRUE --", '%', '_', '\\', '$1', "O'Neil"]) {
      const page = await read(stack, `admin/users?limit=200&search=${encodeURIComponent(search)}`)
      const { data } = (await page.json()) as {
        data: { items: { userId: string; display_name: string | null }[] }
      }
      for (const item of data.items)
        expect(`${item.userId} ${item.display_name}`.toLowerCase()).toContain(search.toLowerCase())
    }
    for (const query of ['sort=km;DROP', 'sort=user_id', 'order=asc,1', 'sort=constructor'])
      await sentenceOf(await read(stack, `admin/users?${query}`), 400, 'invalid-request')
  })

  test.each(CURSORS)('a forged cursor of %s is refused, or leads to a page', async (path, list) => {
    for (const position of POSITIONS) {
      const answer = await read(stack, `${path}cursor=${encodeCursor(list, position)}`)
      expect({ position, status: answer.status }).toEqual({
        position,
        status: answer.status === 200 ? 200 : 400,
      })
    }
  })
}

function spreadsheets(stack: TestStack): void {
  test('no cell of the CSV is a formula', async () => {
    const formulas = [
      '=HYPERLINK("http://a.example")',
      '+1',
      '-1+1',
      '@SUM(A1)',
      '\t=1',
      '\r=1',
      '"\n=1',
      ' =1',
    ]
    for (const text of [
      ...formulas,
      ...STRINGS.filter((one) => one.isWellFormed() && !one.includes('\u0000')),
    ]) {
      const survey = { q1: text, q2: [text, text], q3: -1 }
      const answer = await post(stack, 'submit', { user_id: newPilgrimId(), survey })
      expect([200, 400]).toContain(answer.status)
    }
    await post(stack, 'submit', { user_id: `@SUM-${newPilgrimId()}`, survey: { q1: 'x', 'q1_=1': 'y' } })
    const csv = await (await read(stack, 'admin/surveys', { Accept: 'text/csv' })).text()
    const cells = [...csv.matchAll(/"((?:[^"]|"")*)"(?:,|\r\n)/g)].map(([, cell]) => cell!)
    expect(cells.length).toBeGreaterThan(100)
    // No text is outside a cell.
    expect(csv.replaceAll(/"((?:[^"]|"")*)"(?:,|\r\n)/g, '')).toBe('')
    expect(cells.filter((cell) => /^[\s]*[=+\-@]/.test(cell))).toEqual([])
  })
}

function browsers(stack: TestStack): void {
  const MARKUP = '<script>alert(1)</script><image href="http://127.0.0.1:1/"/>&amp;]]>'

  test('markup in a name or a report is returned as text that no browser runs', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    await post(stack, 'user/sync', { user_id: userId, display_name: MARKUP, language: MARKUP.slice(0, 35) })
    await post(stack, 'feedback', { category: MARKUP, description: MARKUP })
    for (const path of [
      `user/${userId}`,
      'feedback',
      'feedback/status',
      'admin/users',
      `admin/users/${userId}/export`,
    ]) {
      const { headers } = await read(stack, path)
      expect(headers.get('content-type')).toStartWith('application/json')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    const card = await stack.fetch(`/api/event/og/${userId}.png`)
    expect([card.status, card.headers.get('content-type')]).toEqual([200, 'image/png'])
    const gpx = await (await read(stack, `admin/users/${userId}/export?format=gpx`)).text()
    expect(gpx).not.toContain('<script')
  })

  test('no id or file name breaks out of a header', async () => {
    for (const path of [
      'user/a%0d%0aSet-Cookie:%20a=b',
      'og/a%0d%0aX-A:%20b.png',
      'feedback-image/%22%0d%0aX-A:b.png',
    ]) {
      const answer = await stack.fetch(`/api/event/${path}`)
      expect([400, 404]).toContain(answer.status)
      expect([answer.headers.get('set-cookie'), answer.headers.get('x-a')]).toEqual([null, null])
    }
  })
}

function fetching(stack: TestStack): void {
  let asked: string[] = []
  let canary: Bun.Server<undefined>
  beforeAll(() => {
    canary = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => {
        asked.push(request.url)
        return new Response('seen')
      },
    })
  })
  afterAll(() => canary?.stop(true))

  test('no address from a request is fetched', async () => {
    asked = []
    const userId = newPilgrimId()
    const url = `http://127.0.0.1:${canary.port}/`
    const headers = {
      Referer: url,
      Origin: url,
      'X-Forwarded-Host': `127.0.0.1:${canary.port}`,
      'X-Original-URL': url,
    }
    await checkIn(stack, userId)
    await post(
      stack,
      'user/sync',
      { user_id: userId, picture_url: `${url}a.png`, display_name: url },
      headers,
    )
    await post(stack, 'feedback', {
      category: url,
      description: url,
      screenshot_url: `${url}b.png`,
      contact: url,
    })
    await post(stack, 'feedback-upload', { image: url })
    await post(
      stack,
      'push',
      { audience: 'all', text: url, image_url: url.replace('http', 'https') },
      admin('manager'),
    )
    await post(stack, 'og-image', { user_id: userId }, headers)
    expect((await stack.fetch(`/api/event/og/${userId}.png`, { headers })).status).toBe(200)
    const content = {
      type: 'image',
      id: '1',
      contentProvider: { type: 'external', originalContentUrl: url, previewImageUrl: url },
    }
    const event = {
      type: 'message',
      webhookEventId: newPilgrimId(),
      timestamp: Date.now(),
      source: { type: 'user', userId },
      message: content,
    }
    await post(stack, 'webhook', { destination: url, events: [event] })
    await Bun.sleep(500)
    expect(asked).toEqual([])
    expect((await fetch(url)).status).toBe(200)
    expect(asked).toHaveLength(1)
  })
}

export function injections(stack: TestStack): void {
  databases(stack)
  spreadsheets(stack)
  browsers(stack)
  fetching(stack)
}
