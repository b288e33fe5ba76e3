/** What operators do with the bot, over both worlds: push, quota, rich menu, notifications, pause and end. */
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deployMenuEndpoint, menuStatusEndpoint } from '#shared/contracts/bot.ts'
import {
  lineUsageEndpoint,
  notificationsEndpoint,
  pushEndpoint,
  pushProgressEndpoint,
  setNotificationsEndpoint,
} from '#shared/contracts/messages.ts'
import { endActivityEndpoint, readStatusEndpoint } from '#shared/contracts/operations.ts'
import { assignRoleEndpoint } from '#shared/contracts/reports.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { DEFAULT_SLOTS } from '#shared/notifications.ts'
import { openCertificate } from '#proxy/local/certificate.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, lineEvent, textEvent } from '#tests/helpers/line-webhook.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, checkIn, setStatus, type World } from '#tests/helpers/world.ts'
import { describeWorlds, openEmbeddedWorld } from '#tests/helpers/worlds.ts'

const line = startLineServer()
const certificates = mkdtempSync(join(tmpdir(), 'line-images-'))
const certificate = await openCertificate(certificates)
const images = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  tls: certificate,
  fetch: async (request) => {
    const path = new URL(request.url).pathname
    if (path === '/page') return new Response('<html>')
    if (path === '/large') return new Response(new Uint8Array(1_000_001))
    if (path !== '/image.png') return new Response('none', { status: 404 })
    // The smallest PNG there is.
    return new Response(
      Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      ),
    )
  },
})
const imageUrl = (path: string) => `https://127.0.0.1:${images.port}${path}`
afterAll(async () => {
  await line.stop()
  await images.stop(true)
  rmSync(certificates, { recursive: true, force: true })
})
let person = 0xd000

const call = (world: World, method: string, path: string, role: Role, body?: object) =>
  world.fetch(path, {
    method,
    headers: { 'Content-Type': 'application/json', ...admin(role) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
/** Someone who follows, known by their language. */
const follow = async (world: World, language: string): Promise<string> => {
  const userId = lineUser(++person)
  line.profiles.set(userId, { displayName: 'P', language })
  const event = lineEvent(userId, { type: 'follow' })
  await deliver(world, [event])
  await until(() => line.sent.some(({ kind, messages }) => kind === 'reply' && JSON.stringify(messages)), {
    timeoutMs: 10_000,
    what: 'the welcome',
  })
  return userId
}
const messageTo = (userId: string, containing: string) =>
  until(
    () =>
      line.sent.find(
        ({ kind, to, messages }) =>
          kind !== 'reply' && to.includes(userId) && JSON.stringify(messages).includes(containing),
      ),
    { timeoutMs: 45_000, what: `a message with ${containing}`, everyMs: 100 },
  )

describeWorlds(
  'operators and LINE',
  (world) => {
    test('push refuses what LINE would not show, naming the field', async () => {
      const refused = async (body: object, field: string) => {
        const sentence = await sentenceOf(
          await call(world, 'POST', '/api/event/push', 'manager', body),
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
      await refused({ audience: 'inactive', text: 'x' }, 'hours')
      await refused({ audience: 'all', hours: 3, text: 'x' }, 'hours')
      await refused({ user_ids: [], text: 'x' }, 'user_ids')
      await refused({ audience: 'all', image_url: 'http://a.example/x.png' }, 'image_url')
      await refused({ audience: 'all', image_url: imageUrl('/page') }, 'neither JPEG nor PNG')
      await refused({ audience: 'all', image_url: imageUrl('/large') }, 'larger than 1 MB')
      await refused({ audience: 'all', image_url: imageUrl('/none') }, '404')
      expect(
        (await call(world, 'POST', '/api/event/push', 'volunteer', { audience: 'all', text: 'x' })).status,
      ).toBe(403)
      expect((await world.fetch('/api/event/push', { method: 'POST', body: '{}' })).status).toBe(401)
    })

    test('push reaches the given people and tells its progress', async () => {
      const userId = lineUser(++person)
      const body = {
        user_ids: [userId, 'phone-client'],
        text: 'hello there',
        image_url: imageUrl('/image.png'),
      }
      const answer = await dataOf(await call(world, 'POST', '/api/event/push', 'manager', body), pushEndpoint)
      expect(answer).toMatchObject({
        recipients: 1,
        cost: 1,
        quota_remaining: null,
        left_out: { no_line_id: 1 },
      })
      const sent = await messageTo(userId, 'hello there')
      expect(sent.messages.map(({ type }) => type)).toEqual(['image', 'text'])
      const path = `/api/event/push/${answer.id}`
      const progress = await until(
        async () => {
          const read = await dataOf(await call(world, 'GET', path, 'manager'), pushProgressEndpoint)
          return read.state === 'sent' && read
        },
        { timeoutMs: 10_000, what: 'the push to be complete' },
      )
      expect(progress).toMatchObject({ cause: 'push', sent: 1, waiting: 0, failed: 0, attempts: 1 })
      await sentenceOf(
        await call(world, 'GET', `/api/event/push/${crypto.randomUUID()}`, 'manager'),
        404,
        'not-found',
      )
      await sentenceOf(await call(world, 'GET', '/api/event/push/1', 'manager'), 400, 'invalid-request')
    })

    test('line-usage tells the quota to volunteers too, and 503 while LINE does not', async () => {
      line.quota = 1_000
      line.used = 250
      const usage = await dataOf(
        await call(world, 'GET', '/api/event/line-usage', 'volunteer'),
        lineUsageEndpoint,
      )
      expect(usage).toMatchObject({
        quota: { type: 'limited', value: 1_000 },
        consumption: { total_usage: 250 },
        remaining: 750,
        usage_percent: 25,
        configured: true,
      })
      line.mishap = () => 'before'
      await sentenceOf(await call(world, 'GET', '/api/event/line-usage', 'volunteer'), 503, 'unavailable')
      line.mishap = () => 'none'
      line.quota = null
    })

    test('an unfollow makes people unreachable, a follow reachable again', async () => {
      const userId = await follow(world, 'en')
      const dryRun = async () =>
        (
          await dataOf(
            await call(world, 'POST', '/api/event/push', 'manager', {
              user_ids: [userId],
              text: 'x',
              dry_run: true,
            }),
            pushEndpoint,
          )
        ).recipients
      const becomes = (count: number) =>
        until(async () => (await dryRun()) === count, { timeoutMs: 10_000, what: `${count} recipients` })
      await becomes(1)
      const left = lineEvent(userId, { type: 'unfollow', replyToken: undefined })
      const late = lineEvent(userId, { type: 'follow', timestamp: Number(left.timestamp) - 60_000 })
      await deliver(world, [left, late])
      await becomes(0)
      await deliver(world, [lineEvent(userId, { type: 'follow' })])
      await becomes(1)
    })

    test('the rich menu is deployed once per language; unchanged, nothing happens', async () => {
      line.menus.clear()
      const reader = lineUser(++person)
      line.profiles.set(reader, { displayName: 'P', language: 'en' })
      await deliver(world, [textEvent(reader, 'help')])
      const before = await dataOf(
        await call(world, 'GET', '/api/event/admin/richmenu', 'manager'),
        menuStatusEndpoint,
      )
      expect(before.menus.map(({ current }) => current)).toEqual([false, false, false, false])
      const deploy = async () =>
        dataOf(await call(world, 'POST', '/api/event/admin/richmenu', 'manager'), deployMenuEndpoint)
      const first = await deploy()
      expect(first.menus.map(({ changed }) => changed)).toEqual([true, true, true, true])
      expect(line.menus.size).toBe(4)
      expect(
        [...line.menus.values()].every(({ image }) => image?.width === 2_500 && image.height === 1_686),
      ).toBe(true)
      expect(line.linked.get('')).toBe(first.menus[0]!.menu_id)
      const calls = line.calls.length
      expect(await deploy()).toEqual({
        skipped: false,
        menus: first.menus.map((menu) => ({ ...menu, changed: false })),
      })
      expect(line.calls.slice(calls).map(({ path }) => path)).toEqual(['/v2/bot/richmenu/list'])
      // One that somebody deleted, and one that a deployment left behind.
      const english = first.menus.find(({ language }) => language === 'en')!.menu_id
      line.menus.delete(english)
      line.menus.set('left', {
        ...line.menus.get(first.menus[0]!.menu_id)!,
        richMenuId: 'left',
        name: 'event:ja:0',
      })
      line.menus.set('other', { ...line.menus.get('left')!, richMenuId: 'other', name: 'somebody else’s' })
      const second = await deploy()
      expect(second.menus.filter(({ changed }) => changed).map(({ language }) => language)).toEqual(['en'])
      expect([...line.menus.keys()].sort()).toEqual(
        [...second.menus.map(({ menu_id }) => menu_id), 'other'].sort(),
      )
      expect(line.linked.get(reader)).toBe(second.menus.find(({ language }) => language === 'en')!.menu_id)
      const after = await dataOf(
        await call(world, 'GET', '/api/event/admin/richmenu', 'manager'),
        menuStatusEndpoint,
      )
      expect(after.menus.every(({ current }) => current)).toBe(true)
    }, 60_000)

    test('notifications: defaults, edited by the owner only, sent once in the hour that is set', async () => {
      const path = '/api/event/admin/notifications'
      expect(await dataOf(await call(world, 'GET', path, 'manager'), notificationsEndpoint)).toEqual({
        slots: [...DEFAULT_SLOTS],
        defaults: true,
        changed_at: null,
        changed_by: null,
      })
      const userId = await follow(world, 'ja')
      const hours = [0, 1].map((ahead) => new Date(Date.now() + ahead * 60_000 + 8 * 3_600_000).getUTCHours())
      const slots = [...new Set(hours)].map((hour) => ({
        id: `now-${hour}`,
        hour,
        audience: 'all',
        text: { 'zh-Hant': '現在', ja: 'いまです' },
      }))
      await sentenceOf(await call(world, 'PUT', path, 'manager', { slots }), 403, 'forbidden')
      for (const wrong of [
        { hour: 24 },
        { id: 'A B' },
        { text: {} },
        { audience: 'nobody' },
        { dates: ['2026-02-30'] },
      ])
        await sentenceOf(
          await call(world, 'PUT', path, 'owner', { slots: [{ ...slots[0], ...wrong }] }),
          400,
          'invalid-request',
        )
      await sentenceOf(
        await call(world, 'PUT', path, 'owner', { slots: [slots[0], slots[0]] }),
        400,
        'invalid-request',
      )
      const set = await dataOf(await call(world, 'PUT', path, 'owner', { slots }), setNotificationsEndpoint)
      expect(set).toMatchObject({ defaults: false, slots: [{ enabled: true, dates: null }] })
      await messageTo(userId, 'いまです')
    }, 60_000)

    test('a pause tells the volunteers, once; the end tells everyone in their language', async () => {
      const volunteer = await follow(world, 'en')
      const walker = await follow(world, 'zh-TW')
      await checkIn(world, walker)
      await dataOf(
        await call(world, 'POST', '/api/event/admin/roles', 'owner', {
          user_id: volunteer,
          role: 'volunteer',
        }),
        assignRoleEndpoint,
      )
      await setStatus(world, { status: 'paused', message: 'Thunderstorm ahead' })
      await setStatus(world, { status: 'paused', message: 'Thunderstorm ahead' })
      const pause = await messageTo(volunteer, 'Thunderstorm ahead')
      expect(pause.to).not.toContain(walker)
      await dataOf(await call(world, 'POST', '/api/event/admin/end-activity', 'manager'), endActivityEndpoint)
      await messageTo(walker, '圓滿結束')
      await messageTo(volunteer, 'has come to its end')
      await until(
        async () => {
          const { ending } = await dataOf(
            await call(world, 'GET', '/api/event/admin/status', 'volunteer'),
            readStatusEndpoint,
          )
          return ending?.summary === 'sent'
        },
        { timeoutMs: 20_000, what: 'the summary to be complete' },
      )
      for (const [userId, word] of [
        [walker, '圓滿結束'],
        [volunteer, 'Thunderstorm'],
      ] as const)
        expect(
          line.sent.filter(
            ({ to, messages }) => to.includes(userId) && JSON.stringify(messages).includes(word),
          ),
        ).toHaveLength(1)
    }, 120_000)
  },
  { ...lineSettings(line), NODE_EXTRA_CA_CERTS: join(certificates, 'tls/cert.pem') },
)

test('without LINE credentials everything answers, and messages are written down as skipped', async () => {
  const world = await openEmbeddedWorld()
  try {
    const body = { user_ids: [lineUser(1)], text: 'x' }
    const { id } = await dataOf(await call(world, 'POST', '/api/event/push', 'manager', body), pushEndpoint)
    const progress = await dataOf(
      await call(world, 'GET', `/api/event/push/${id}`, 'manager'),
      pushProgressEndpoint,
    )
    expect(progress).toMatchObject({ state: 'skipped', skipped: 1, sent: 0 })
    expect(
      await dataOf(await call(world, 'GET', '/api/event/line-usage', 'volunteer'), lineUsageEndpoint),
    ).toMatchObject({
      remaining: null,
      configured: false,
    })
    const deployed = await call(world, 'POST', '/api/event/admin/richmenu', 'manager')
    expect(await dataOf(deployed, deployMenuEndpoint)).toEqual({ skipped: true, menus: [] })
    // Without a channel secret unsigned deliveries are taken.
    const photo = lineEvent(lineUser(2), { type: 'message', message: { type: 'image' } })
    expect((await deliver(world, [photo], null)).status).toBe(200)
    await until(
      async () =>
        JSON.stringify(
          await (await world.fetch(`/api/event/photos/count?user_id=${lineUser(2)}`)).json(),
        ).includes(':1}'),
      { timeoutMs: 10_000, what: 'the photo to count' },
    )
  } finally {
    await world.close()
  }
}, 60_000)
