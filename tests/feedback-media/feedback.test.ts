/** Feedback: what is accepted, who may read which fields, and how operators change it. */
import { expect, test } from 'bun:test'
import {
  type BoardItem,
  feedbackStatusEndpoint,
  listFeedbackEndpoint,
  submitFeedbackEndpoint,
  updateFeedbackEndpoint,
} from '#shared/contracts/feedback.ts'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, newPilgrimId, readAs, type TestStack } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { readBoard } from '#services/feedback-media/feedback/reports.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { json } from './requests.ts'

const PATH = submitFeedbackEndpoint.path

/** Operators search reports by their words; the public board has no search. */
function feedbackSearchTests(stack: TestStack): void {
  test('a search finds words of a report, of its category and of its note, and counts what it finds', async () => {
    const word = `Brunnen${crypto.randomUUID().slice(0, 8)}`
    const report = async (category: string, description: string) =>
      (await dataOf(await stack.fetch(PATH, json({ category, description })), submitFeedbackEndpoint)).id
    const byText = await report('service', `Kein Wasser am ${word}`)
    const byCategory = await report(word.toUpperCase(), 'x')
    const byNote = await report('route', '100 % _ nothing')
    const note = {
      ...json({ admin_note: `siehe ${word}`, status: 'fixing' }, admin('manager')),
      method: 'PATCH',
    }
    await dataOf(await stack.fetch(`${PATH}/${byNote}`, note), updateFeedbackEndpoint)
    const find = async (query: string) => {
      const found = await stack.fetch(`${PATH}?${query}`, { headers: admin('volunteer') })
      return dataOf(found, listFeedbackEndpoint)
    }
    const found = await find(`search=${word.toLowerCase()}`)
    expect(found.items.map(({ id }) => id)).toEqual([byNote, byCategory, byText])
    expect(found).toMatchObject({ counts: { new: 2, fixing: 1, fixed: 0 } })
    const page = await find(`search=${word}&limit=2`)
    expect(page.items).toHaveLength(2)
    expect((await find(`search=${word}&limit=2&cursor=${page.next_cursor}`)).items).toMatchObject([
      { id: byText },
    ])
    expect((await find(`search=${word}&status=fixing`)).items).toMatchObject([{ id: byNote }])
    expect((await find(`search=${word}&category=service`)).items).toMatchObject([{ id: byText }])
    // Pattern characters match literally.
    expect((await find(`search=${encodeURIComponent('100 % _')}`)).items.map(({ id }) => id)).toContain(
      byNote,
    )
    expect((await find(`search=${encodeURIComponent('%')}${word}`)).items).toEqual([])
    for (const path of [PATH, `${PATH}/status`])
      expect(await sentenceOf(await stack.fetch(`${path}?search=${word}`), 400, 'invalid-request')).toContain(
        'search',
      )
  })
}

/** A report that is repeated because its response was lost is stored once. */
function repeatedReportTests(stack: TestStack): void {
  const send = (fields: object) => stack.fetch(PATH, json({ description: 'No water', ...fields }))
  const submit = async (fields: object) => dataOf(await send(fields), submitFeedbackEndpoint)

  test('a report that is sent again with its id, also at the same time, is stored once', async () => {
    const report_id = crypto.randomUUID()
    const category = `again-${report_id}`
    const [first, ...repeated] = await Promise.all(
      Array.from({ length: 5 }, () => submit({ report_id, category })),
    )
    for (const answer of repeated) expect(answer).toEqual(first!)
    const fixing = { ...json({ status: 'fixing' }, admin('manager')), method: 'PATCH' }
    await dataOf(await stack.fetch(`${PATH}/${first!.id}`, fixing), updateFeedbackEndpoint)
    expect(await submit({ report_id, category })).toEqual({ id: first!.id, status: 'fixing' })
    const listed = await dataOf(await stack.fetch(`${PATH}?category=${category}`), listFeedbackEndpoint)
    expect(listed.items).toHaveLength(1)
    expect((await submit({ category })).id).not.toBe((await submit({ category })).id)
    const others = await send({ report_id, category, description: 'No bread' })
    expect(await sentenceOf(others, 409, 'conflict')).toContain('report_id')
    const refused = await send({ report_id: 'x', category })
    expect(await sentenceOf(refused, 400, 'invalid-request')).toContain('report_id')
  })
}

const BOARD_FIELDS = ['id', 'category', 'description', 'status', 'created_at', 'updated_at', 'resolved_at']
const LIMIT = 200
const REPORT = { category: 'app', description: 'It does not load' }

describeBothStacks(
  'feedback',
  (stack) => {
    const submit = async (fields: object = {}) =>
      dataOf(await stack.fetch(PATH, json({ ...REPORT, ...fields })), submitFeedbackEndpoint)
    const list = async (query = '', headers = {}) =>
      dataOf(await stack.fetch(`${PATH}${query}`, { headers }), listFeedbackEndpoint)
    const patch = (id: number | string, body: unknown, headers: Record<string, string> = admin('manager')) =>
      stack.fetch(`${PATH}/${id}`, { ...json(body, headers), method: 'PATCH' })
    const patched = async (id: number, body: unknown) => dataOf(await patch(id, body), updateFeedbackEndpoint)

    repeatedReportTests(stack)
    feedbackSearchTests(stack)

    test('anyone may report; operators see everything, the board shows nothing personal', async () => {
      const userId = newPilgrimId()
      const given = {
        user_id: userId,
        category: '  map ',
        description: '地圖是空白的 🗺️',
        screenshot_url: 'https://event.test/api/event/feedback-image/x.png',
        device_info: { model: 'Pixel', note: 'a\u0000b' },
        user_agent: 'Mozilla/5.0',
        contact: 'me@example.org',
      }
      const { id, status } = await submit(given)
      expect(status).toBe('new')
      const [full] = (await list('?limit=1', admin('volunteer'))).items
      expect(full).toMatchObject({
        id,
        userId,
        category: 'map',
        description: given.description,
        status: 'new',
        resolved_at: null,
        screenshot_url: given.screenshot_url,
        device_info: JSON.stringify(given.device_info),
        user_agent: given.user_agent,
        contact: given.contact,
        admin_note: null,
      })
      const boards: BoardItem[][] = [
        (await list('?limit=1')).items,
        (await dataOf(await stack.fetch(`${PATH}/status?limit=1`), feedbackStatusEndpoint)).items,
      ]
      for (const [shown] of boards) {
        expect(shown?.id).toBe(id)
        expect(Object.keys(shown!).sort()).toEqual([...BOARD_FIELDS].sort())
      }
      const profile = await stack.fetch(`/api/event/user/${userId}`)
      expect((await dataOf(profile, profileEndpoint)).userId).toBe(userId)
      await sentenceOf(
        await stack.fetch(PATH, { headers: { 'X-Admin-Token': 'wrong' } }),
        401,
        'unauthorized',
      )
    })

    test('null means absent, and aliases name the pilgrim', async () => {
      const nothing = {
        screenshot_url: null,
        device_info: null,
        user_agent: null,
        contact: '',
        user_id: null,
      }
      const { id } = await submit(nothing)
      expect((await list('?limit=1', admin('owner'))).items[0]).toMatchObject({
        id,
        userId: null,
        contact: null,
        device_info: null,
      })
      const userId = newPilgrimId()
      await submit({ line_user_id: userId })
      expect((await list('?limit=1', admin('owner'))).items[0]).toMatchObject({ userId })
      await sentenceOf(
        await stack.fetch(PATH, json({ category: 'a', description: 'b', user_id: 'a', userId: 'b' })),
        400,
        'invalid-request',
      )
    })

    test('every fault is 400 and names its field', async () => {
      const right = { category: 'app', description: 'It does not load' }
      const wrong: [field: string, body: unknown][] = [
        ['category', { ...right, category: undefined }],
        ['category', { ...right, category: '   ' }],
        ['category', { ...right, category: 'x'.repeat(101) }],
        ['category', { ...right, category: 7 }],
        ['description', { ...right, description: '' }],
        ['description', { ...right, description: 'x'.repeat(2_001) }],
        ['description', { ...right, description: 'a\u0000b' }],
        ['description', { ...right, description: 'a\ud800b' }],
        ['screenshot_url', { ...right, screenshot_url: 'javascript:alert(1)' }],
        ['screenshot_url', { ...right, screenshot_url: '/etc/passwd' }],
        ['device_info', { ...right, device_info: { a: 'x'.repeat(2_000) } }],
        ['device_info', { ...right, device_info: 7 }],
        ['contact', { ...right, contact: 'x'.repeat(201) }],
        ['user_id', { ...right, user_id: '../x' }],
        ['body', []],
      ]
      for (const [field, body] of wrong)
        expect(await sentenceOf(await stack.fetch(PATH, json(body)), 400, 'invalid-request')).toMatch(
          new RegExp(`^${field}(: | is missing)`),
        )
      const longest = { category: 'c'.repeat(100), description: 'd'.repeat(2_000) }
      await dataOf(await stack.fetch(PATH, json(longest)), submitFeedbackEndpoint)
    })

    test('pages by cursor return all items once, newest first', async () => {
      const category = `pages-${crypto.randomUUID()}`
      const ids: number[] = []
      for (let i = 0; i < 7; i++) ids.unshift((await submit({ category })).id)
      for (const headers of [{}, admin('manager')]) {
        const seen: number[] = []
        let cursor = ''
        do {
          const page = await list(`?limit=3&category=${category}${cursor && `&cursor=${cursor}`}`, headers)
          expect(page.items.length).toBeLessThanOrEqual(3)
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.next_cursor ?? ''
        } while (cursor !== '')
        expect(seen).toEqual(ids)
      }
    })

    test('a limit beyond its bounds, or a foreign cursor, is 400', async () => {
      await submit()
      await submit()
      const full = (await list('?limit=1', admin('manager'))).next_cursor!
      const users = await readAs(stack, 'manager', 'admin/users?limit=1')
      const foreign = ((await users.json()) as { data: { next_cursor: string | null } }).data.next_cursor
      const queries = [
        ...['0', '201', '-1', '1.5', 'x', '', '1e2'].map((limit) => `limit=${limit}`),
        ...['x', '%00', full, foreign ?? 'none'].map((cursor) => `cursor=${cursor}`),
        `cursor=${Buffer.from('["board"]').toString('base64url')}`,
        `cursor=${Buffer.from('["board","1; DROP TABLE feedback"]').toString('base64url')}`,
        'status=lost',
      ]
      for (const query of queries)
        for (const path of [PATH, `${PATH}/status`])
          expect(await sentenceOf(await stack.fetch(`${path}?${query}`), 400, 'invalid-request')).toMatch(
            /^(limit|cursor|status): /,
          )
      for (const limit of [1, 200]) expect((await list(`?limit=${limit}`)).items.length).toBeGreaterThan(0)
    })

    test('fixed sets resolved_at, any other status clears it, and a note does not change it', async () => {
      const { id } = await submit()
      expect((await patched(id, { status: 'triaging' })).resolved_at).toBeNull()
      const fixed = await patched(id, { status: 'fixed', admin_note: 'in the next release' })
      expect(fixed.resolved_at).not.toBeNull()
      expect(fixed.admin_note).toBe('in the next release')
      const again = await patched(id, { status: 'fixed' })
      expect(again.resolved_at).toBe(fixed.resolved_at)
      const noted = await patched(id, { admin_note: 'released' })
      expect(noted).toMatchObject({ status: 'fixed', resolved_at: fixed.resolved_at, admin_note: 'released' })
      expect(noted.updated_at >= fixed.updated_at).toBe(true)
      for (const status of ['fixing', 'wontfix', 'new'] as const) {
        await patched(id, { status: 'fixed' })
        expect((await patched(id, { status })).resolved_at).toBeNull()
      }
      expect((await patched(id, { status: null, admin_note: '' })).admin_note).toBeNull()
      const board = await list('?limit=200')
      expect(board.items.find((item) => item.id === id)).toMatchObject({ status: 'new' })
    })

    test('a change needs a manager, an item, and something to change; each is audited', async () => {
      const { id } = await submit()
      await sentenceOf(await patch(id, { status: 'fixed' }, {}), 401, 'unauthorized')
      await sentenceOf(await patch(id, { status: 'fixed' }, admin('volunteer')), 403, 'forbidden')
      for (const body of [{}, { status: 'done' }, { status: 7 }, { admin_note: 'x'.repeat(2_001) }, []])
        await sentenceOf(await patch(id, body), 400, 'invalid-request')
      for (const wrong of ['abc', '1.5', '-1', '99999999999', '2147483648'])
        expect(await sentenceOf(await patch(wrong, { status: 'new' }), 400, 'invalid-request')).toStartWith(
          'id: ',
        )
      await sentenceOf(await patch(2_147_483_647, { status: 'new' }), 404, 'not-found')
      const requestId = `audited-${crypto.randomUUID()}`
      await dataOf(
        await patch(id, { status: 'wontfix' }, { ...admin('owner'), 'X-Request-Id': requestId }),
        updateFeedbackEndpoint,
      )
      const log = await readAs(stack, 'owner', 'admin/audit?limit=200')
      const { data } = (await log.json()) as { data: { items: { request_id: string }[] } }
      expect(data.items.find((entry) => entry.request_id === requestId)).toMatchObject({
        action: 'update-feedback',
        role: 'owner',
        details: { id, from: 'new', status: 'wontfix' },
      })
    })

    test('lists are filtered by status and category, and the board counts', async () => {
      const category = `filter-${crypto.randomUUID()}`
      const before = (await dataOf(await stack.fetch(`${PATH}/status`), feedbackStatusEndpoint)).counts
      const [a, b] = [await submit({ category }), await submit({ category })]
      await patched(a.id, { status: 'fixed' })
      for (const headers of [{}, admin('volunteer')]) {
        const found = await list(`?category=${category}&status=fixed`, headers)
        expect(found.items.map(({ id }) => id)).toEqual([a.id])
      }
      expect((await list(`?category=${category}&status=new`)).items.map(({ id }) => id)).toEqual([b.id])
      const { counts } = await dataOf(await stack.fetch(`${PATH}/status`), feedbackStatusEndpoint)
      expect(await list('?limit=1', admin('volunteer'))).toMatchObject({ counts })
      expect(await list('?limit=1')).not.toHaveProperty('counts')
      expect([counts.fixed - before.fixed, counts.new - before.new]).toEqual([1, 1])
    })

    test('the rate limit is per pilgrim where one is named, else per address', async () => {
      const userId = newPilgrimId()
      const send = (id?: string) =>
        stack.fetch(
          PATH,
          json({ category: 'a', description: 'b', ...(id === undefined ? {} : { user_id: id }) }),
        )
      for (let i = 0; i < 30; i++) expect((await send(userId)).status).toBe(200)
      await sentenceOf(await send(userId), 429, 'rate-limited')
      expect((await send(newPilgrimId())).status).toBe(200)
      let answer = await send()
      for (let i = 0; i < LIMIT && answer.status === 200; i++) answer = await send()
      await sentenceOf(answer, 429, 'rate-limited')
      expect((await send(newPilgrimId())).status).toBe(200)
    })
  },
  { EVENT_LIMIT_ADDRESS_WRITE: String(LIMIT) },
)

test('the board refuses a search before it asks the database, because nobody pays for a refused request', async () => {
  let isAsked = false
  const context = {
    get db() {
      isAsked = true
      throw new Error('the database was asked')
    },
  }
  const query = feedbackStatusEndpoint.query.parse({ search: 'x' })
  expect(await rejection(readBoard(context as never, query))).toMatchObject({ httpStatus: 400 })
  expect(isAsked).toBe(false)
})
