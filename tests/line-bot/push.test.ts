/** Push and quota as operators use them, embedded and on servers. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployMenuEndpoint } from '#shared/contracts/bot.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { uploadScreenshotEndpoint } from '#shared/contracts/feedback.ts'
import {
  lineUsageEndpoint,
  pushEndpoint,
  pushProgressEndpoint,
  type LeftOutRecipient,
  leftOutRecipientsEndpoint,
} from '#shared/contracts/messages.ts'
import { userMessagesEndpoint } from '#shared/contracts/user-history.ts'
import { openCertificate } from '#proxy/local/listen.ts'
import { png } from '#tests/feedback-media/pictures.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { follow, messageTo, newLineUser } from '#tests/helpers/line-people.ts'
import { lineSettings, lineUser, startLineServer, type LineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent, textEvent } from '#tests/helpers/line-webhook.ts'
import { until } from '#tests/helpers/wait.ts'
import { describeBothStacks, openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import type { ErrorCode } from '#shared/contracts/errors.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
import { callAs, readAs } from '#tests/helpers/test-stack.ts'

type Page = { readonly items: readonly LeftOutRecipient[]; readonly next_cursor: string | null }

/** People who get no LINE message, by name. */
function leftOutRecipientsTests(stack: TestStack, line: LineServer): void {
  test('who gets no LINE message is listed by name, page by page, of a message and of an audience', async () => {
    const reached = await follow(stack, line, 'en')
    const blocked = await follow(stack, line, 'en')
    await deliver(stack, [lineEvent(blocked, { type: 'unfollow', replyToken: undefined })])
    const paused = newLineUser()
    // Most languages sort a before B; paging must not depend on the database's collation.
    const phones = ['Phone-B', 'phone-C', 'phone-a']
    for (const userId of [paused, ...phones])
      await post(stack, 'user/sync', { user_id: userId, display_name: `Name of ${userId}` })
    await post(stack, 'participant-status', { user_id: paused, status: 'withdrawn' })
    const leftOut = async (query: string) => {
      const found: LeftOutRecipient[] = []
      for (let cursor: string | null = ''; cursor !== null;) {
        const path: string = `push/left-out?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`
        const page: Page = await dataOf(await readAs(stack, 'owner', path), leftOutRecipientsEndpoint)
        expect(page.items.length).toBeLessThanOrEqual(2)
        found.push(...page.items)
        cursor = page.next_cursor
      }
      return found
    }
    const named = (userId: string, reason: LeftOutRecipient['reason']) => ({
      userId,
      reason,
      devices: 0,
      display_name: `Name of ${userId}`,
    })
    const users = { user_ids: [phones[2]!, reached, paused, blocked, phones[0]!, phones[1]!], text: 'x' }
    const pushed = await callAs(stack, 'manager', 'POST', 'push', users)
    const { id, left_out } = await dataOf(pushed, pushEndpoint)
    expect(left_out).toEqual({ unreachable: 1, withdrawn: 1, no_line_id: 3 })
    expect(await leftOut(`message=${id}`)).toEqual([
      { userId: blocked, display_name: 'P', reason: 'unreachable', devices: 0 },
      named(paused, 'withdrawn'),
      ...phones.map((userId) => named(userId, 'no_line_id')),
    ])
    const everybody = await leftOut('audience=all')
    expect(everybody).toContainEqual(named('Phone-B', 'no_line_id'))
    expect(everybody.map(({ userId }) => userId)).not.toContain(reached)
    expect(new Set(everybody.map(({ userId }) => userId)).size).toBe(everybody.length)
    expect(await leftOut('audience=owners')).toEqual([])
    const refused = async (query: string, status: number, code: ErrorCode) =>
      sentenceOf(await readAs(stack, 'manager', `push/left-out${query}`), status, code)
    await refused('', 400, 'invalid-request')
    await refused(`?audience=all&message=${id}`, 400, 'invalid-request')
    await refused('?audience=all&hours=3', 400, 'invalid-request')
    await refused('?audience=inactive&hours=0', 400, 'invalid-request')
    await refused('?audience=all&cursor=x', 400, 'invalid-request')
    await refused(`?message=${crypto.randomUUID()}`, 404, 'not-found')
  })
}

const line = startLineServer()
const certificates = mkdtempSync(join(tmpdir(), 'line-images-'))
const certificate = await openCertificate(certificates)
const PUBLIC_URL = 'https://walk.example'
let fetches = 0
/** Its certificate is trusted, so the services could fetch from it. */
const images = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: certificate,
  fetch() {
    fetches++
    return new Response('<html>')
  },
})
const imageUrl = (path: string) => `https://127.0.0.1:${images.port}${path}`
afterAll(async () => {
  await line.stop()
  await images.stop(true)
  rmSync(certificates, { recursive: true, force: true })
})

describeBothStacks(
  'push and quota',
  (stack) => {
    test('a push that is repeated because its answer was lost is not refused, whatever has happened since', async () => {
      const reader = await follow(stack, line, 'en')
      const push = () =>
        callAs(stack, 'manager', 'POST', 'push', { user_ids: [reader], text: 'x', push_id: pushId })
      const pushId = crypto.randomUUID()
      const first = await dataOf(await push(), pushEndpoint)
      line.mishap = (path) => (path.includes('/quota') ? 'before' : 'none')
      const answer = await push().finally(() => (line.mishap = () => 'none'))
      const repeated = await dataOf(answer, pushEndpoint)
      expect(repeated).toMatchObject({ id: first.id, recipients: 1, quota_remaining: null })
    })

    test('push refuses content that LINE would not show, and names the field', async () => {
      const refused = async (body: object, field: string) => {
        const sentence = await sentenceOf(
          await callAs(stack, 'manager', 'POST', 'push', body),
          400,
          'invalid-request',
        )
        expect(sentence).toContain(field)
      }
      await refused({ text: 'x' }, 'audience')
      await refused({ audience: 'everyone', text: 'x' }, 'audience')
      await refused({ audience: 'all', user_ids: ['a'], text: 'x' }, 'audience')
      await refused({ audience: 'all' }, 'text')
      await refused({ audience: 'all', text: ' ' }, 'text')
      await refused({ audience: 'all', text: 'x'.repeat(5_001) }, 'text')
      await refused({ audience: 'all', text: 'a\u0000b' }, 'text')
      await refused({ audience: 'all', title: 'x' }, 'title')
      await refused({ audience: 'all', hours: 3, text: 'x' }, 'hours')
      await refused({ user_ids: [], text: 'x' }, 'user_ids')
      await refused({ audience: 'all', image_url: 'http://a.example/x.png' }, 'image_url')
      const screenshot = (file: string) => `${PUBLIC_URL}/api/event/feedback-image/${file}`
      for (const file of [`${'0'.repeat(32)}.png`, 'x', '', '../og/me.png'])
        await refused({ audience: 'all', image_url: screenshot(file) }, 'no screenshot with this name')
      const upload = await stack.fetch('/api/event/feedback-upload', { method: 'POST', body: png(2, 2) })
      const { filename } = await dataOf(upload, uploadScreenshotEndpoint)
      const known = { audience: 'all', image_url: screenshot(filename), dry_run: true }
      expect((await callAs(stack, 'manager', 'POST', 'push', known)).status).toBe(200)
      expect((await callAs(stack, 'volunteer', 'POST', 'push', { audience: 'all', text: 'x' })).status).toBe(
        403,
      )
      expect((await stack.fetch('/api/event/push', { method: 'POST', body: '{}' })).status).toBe(401)
    })

    test('push reaches the given people and reports its progress', async () => {
      const userId = newLineUser()
      const body = {
        // A person who is listed twice gets it once.
        user_ids: [userId, 'phone-client', userId],
        text: 'hello there',
        image_url: imageUrl('/image.png'),
      }
      const answer = await dataOf(await callAs(stack, 'manager', 'POST', 'push', body), pushEndpoint)
      expect(answer).toMatchObject({
        recipients: 1,
        cost: 1,
        quota_remaining: null,
        left_out: { no_line_id: 1 },
      })
      const sent = await messageTo(line, userId, 'hello there')
      expect(sent.messages.map(({ type }) => type)).toEqual(['image', 'text'])
      const log = await readAs(stack, 'owner', 'admin/audit?action=push')
      expect((await dataOf(log, auditEndpoint)).items[0]).toMatchObject({
        details: { id: answer.id, recipients: 1, audience: '3 ids', message: 'hello there', forced: false },
      })
      // The service fetches no URL from a request.
      expect(fetches).toBe(0)
      const path = `push/${answer.id}`
      const progress = await until(async () => {
        const read = await dataOf(await readAs(stack, 'manager', path), pushProgressEndpoint)
        return read.state === 'sent' && read
      }, 'the push to be complete')
      expect(progress).toMatchObject({ cause: 'push', sent: 1, waiting: 0, failed: 0, attempts: 1 })
      await sentenceOf(await callAs(stack, 'manager', 'GET', `push/${crypto.randomUUID()}`), 404, 'not-found')
      await sentenceOf(await readAs(stack, 'manager', 'push/1'), 400, 'invalid-request')
    })

    leftOutRecipientsTests(stack, line)

    test('push to the inactive means 24 hours, unless hours are given', async () => {
      const body = { audience: 'inactive', text: 'we miss you' }
      for (const [given, hours] of [
        [{}, 24],
        [{ hours: null }, 24],
        [{ hours: 3 }, 3],
      ] as const) {
        const pushed = await callAs(stack, 'manager', 'POST', 'push', { ...body, ...given })
        const { id } = await dataOf(pushed, pushEndpoint)
        const progress = await readAs(stack, 'manager', `push/${id}`)
        expect((await dataOf(progress, pushProgressEndpoint)).audience).toEqual({
          audience: 'inactive',
          hours,
        })
      }
    })

    test('line-usage returns the quota to volunteers too, and 503 while LINE does not answer', async () => {
      line.quota = 1_000
      line.used = 250
      const usage = await dataOf(await readAs(stack, 'volunteer', 'line-usage'), lineUsageEndpoint)
      expect(usage).toMatchObject({
        quota: { type: 'limited', value: 1_000 },
        consumption: { total_usage: 250 },
        remaining: 750,
        usage_percent: 25,
        configured: true,
      })
      // LINE counts messages of the official account too, so usage may exceed the limit.
      line.used = 1_250
      expect(await dataOf(await readAs(stack, 'volunteer', 'line-usage'), lineUsageEndpoint)).toMatchObject({
        remaining: 0,
        usage_percent: 125,
      })
      line.quota = null
      expect(await dataOf(await readAs(stack, 'volunteer', 'line-usage'), lineUsageEndpoint)).toMatchObject({
        quota: { type: 'none', value: null },
        remaining: null,
        usage_percent: null,
      })
      line.mishap = () => 'before'
      await sentenceOf(await readAs(stack, 'volunteer', 'line-usage'), 503, 'unavailable')
      line.mishap = () => 'none'
      line.quota = null
    })

    test('an unfollow makes people unreachable; a follow, or a word of theirs, reachable again', async () => {
      const userId = await follow(stack, line, 'en')
      const dryRun = async () =>
        (
          await dataOf(
            await callAs(stack, 'manager', 'POST', 'push', {
              user_ids: [userId],
              text: 'x',
              dry_run: true,
            }),
            pushEndpoint,
          )
        ).recipients
      const becomes = (count: number) => until(async () => (await dryRun()) === count, `${count} recipients`)
      await becomes(1)
      const left = lineEvent(userId, { type: 'unfollow', replyToken: undefined })
      const late = lineEvent(userId, { type: 'follow', timestamp: Number(left.timestamp) - 60_000 })
      await deliver(stack, [left, late])
      await becomes(0)
      await deliver(stack, [lineEvent(userId, { type: 'follow' })])
      await becomes(1)
      await deliver(stack, [lineEvent(userId, { type: 'unfollow', replyToken: undefined })])
      await becomes(0)
      await deliver(stack, [textEvent(userId, 'help')])
      await becomes(1)
    })
  },
  {
    ...lineSettings(line),
    EVENT_PUBLIC_URL: PUBLIC_URL,
    NODE_EXTRA_CA_CERTS: join(certificates, 'tls/cert.pem'),
  },
)

test('without LINE credentials everything answers, and messages are stored as skipped (long)', async () => {
  const stack = await openEmbeddedTestStack()
  try {
    const body = { user_ids: [lineUser(1)], text: 'x' }
    const { id } = await dataOf(await callAs(stack, 'manager', 'POST', 'push', body), pushEndpoint)
    const progress = await dataOf(await readAs(stack, 'manager', `push/${id}`), pushProgressEndpoint)
    expect(progress).toMatchObject({ state: 'skipped', skipped: 1, sent: 0 })
    const theirs = await callAs(stack, 'manager', 'GET', `admin/users/${lineUser(1)}/messages`)
    expect((await dataOf(theirs, userMessagesEndpoint)).items).toMatchObject([
      { id, state: 'skipped', text: 'x', settled_at: expect.any(String) },
    ])
    expect(await dataOf(await readAs(stack, 'volunteer', 'line-usage'), lineUsageEndpoint)).toMatchObject({
      remaining: null,
      configured: false,
    })
    const deployed = await callAs(stack, 'manager', 'POST', 'admin/richmenu')
    expect(await dataOf(deployed, deployMenuEndpoint)).toEqual({ skipped: true, menus: [] })
    // Without a channel secret unsigned deliveries are accepted.
    const photo = lineEvent(lineUser(2), { type: 'message', message: { type: 'image' } })
    expect((await deliver(stack, [photo], null)).status).toBe(200)
    await until(
      async () =>
        JSON.stringify(
          await (await stack.fetch(`/api/event/photos/count?user_id=${lineUser(2)}`)).json(),
        ).includes(':1}'),
      'the photo to count',
    )
  } finally {
    await stack.close()
  }
})
