/** Cached answers as clients see them: ETags, HEAD, and checks of every caller. */
import { expect, test } from 'bun:test'
import { carbonEndpoint } from '#shared/contracts/reports.ts'
import { dataEndpoint, type LiveMap } from '#shared/contracts/tracking.ts'
import { dataOf, expectCommonHeaders, sentenceOf } from '#tests/helpers/answers.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, checkIn, newPilgrimId } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const DATA = '/api/event/data?limit=5000'

describeBothStacks('cached answers', (stack) => {
  test('a client with the current ETag gets 304 without a body', async () => {
    const headers = admin('manager')
    const path = '/api/event/admin/carbon'
    const { first, again, tag } = await until(
      async () => {
        const first = await stack.fetch(path, { headers })
        const tag = first.headers.get('etag')!
        const again = await stack.fetch(path, { headers: { ...headers, 'If-None-Match': tag } })
        return again.status === 304 && { first, again, tag }
      },
      { timeoutMs: 10_000, what: 'no flush between two requests', everyMs: 50 },
    )
    expect(again.headers.get('etag')).toBe(tag)
    expect(again.headers.get('cache-control')).toBe('private, no-cache')
    expect(await again.text()).toBe('')
    expectCommonHeaders(again)
    await dataOf(first, carbonEndpoint)
  })

  test('HEAD answers as GET does, without the body', async () => {
    const head = await stack.fetch(DATA, { method: 'HEAD' })
    expect({ status: head.status, text: await head.text() }).toEqual({ status: 200, text: '' })
    expect(head.headers.get('etag')).toMatch(/^"\w+"$/)
    expect(head.headers.get('content-type')).toStartWith('application/json')
    expectCommonHeaders(head)
  })

  test('the public never gets an operator’s answer, in any order of requests', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const headers = admin('volunteer')
    const map = async (init: RequestInit): Promise<LiveMap> =>
      dataOf(await stack.fetch(DATA, init), dataEndpoint)
    // Each replica reads a new position at its next refresh; the public's and the operators' answers are cached apart.
    const shown = async () =>
      (await map({ headers })).points.some((point) => point.userId === userId) &&
      (await map({})).points.length > 0
    await until(async () => (await Promise.all([shown(), shown(), shown(), shown()])).every(Boolean), {
      timeoutMs: 10_000,
      what: 'the pilgrim to be on the map',
    })
    for (let i = 0; i < 6; i++) {
      const [open, full] = await Promise.all([map({}), map({ headers })])
      expect(open.points.length).toBeGreaterThan(0)
      for (const point of open.points)
        expect(Object.keys(point).sort()).toEqual(['id', 'lat', 'lng', 'recorded_at'])
      for (const point of full.points) expect(point).toHaveProperty('userId')
    }
    await sentenceOf(await stack.fetch(DATA, { headers: { 'X-Admin-Token': 'wrong' } }), 401, 'unauthorized')
  })

  test('a cached answer needs a token and is charged to it like any other', async () => {
    const headers = admin('owner')
    const read = () => stack.fetch('/api/event/admin/timeline', { headers })
    const answers = await Promise.all(Array.from({ length: 31 }, read))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
    await sentenceOf(await stack.fetch('/api/event/admin/timeline'), 401, 'unauthorized')
    await sentenceOf(
      await stack.fetch('/api/event/admin/carbon', { headers: admin('volunteer') }),
      403,
      'forbidden',
    )
  })
})
