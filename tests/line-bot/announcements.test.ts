/** The bot's own announcements and its rich menu, embedded and on servers. */
import { figure } from '#shared/locales/units.ts'
import { afterAll, expect } from 'bun:test'
import { deployMenuEndpoint, menuStatusEndpoint } from '#shared/contracts/bot.ts'
import { notificationsEndpoint, setNotificationsEndpoint } from '#shared/contracts/messages.ts'
import { endActivityEndpoint, readStatusEndpoint } from '#shared/contracts/operations.ts'
import { userSyncEndpoint } from '#shared/contracts/profile.ts'
import {
  assignRoleEndpoint,
  carbonEndpoint,
  eraseUserEndpoint,
  timelineEndpoint,
} from '#shared/contracts/reports.ts'
import { DEFAULT_SLOTS } from '#shared/service/line/scheduled-notifications.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { follow, messageTo, newLineUser } from '#tests/helpers/line-people.ts'
import { lineSettings, startLineServer } from '#tests/helpers/line-server.ts'
import { deliver, textEvent } from '#tests/helpers/line-webhook.ts'
import { until } from '#tests/helpers/wait.ts'
import { MINUTE, walk } from '#tests/helpers/pilgrim.ts'
import {
  callAs,
  checkIn,
  endActivity,
  flushed,
  readAs,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacksAtOnce } from '#tests/helpers/open-test-stack.ts'

const lines = { embedded: startLineServer(), real: startLineServer() }
afterAll(() => Promise.all([lines.embedded.stop(), lines.real.stop()]))

describeBothStacksAtOnce(
  'announcements',
  (stack, test) => {
    const line = lines[stack.kind]
    test('the rich menu is deployed once per language; an unchanged one is not deployed again', async () => {
      line.menus.clear()
      const reader = newLineUser()
      line.profiles.set(reader, { displayName: 'P', language: 'en' })
      const replies = () => line.calls.filter(({ path }) => path === '/v2/bot/message/reply').length
      const repliedBefore = replies()
      await deliver(stack, [textEvent(reader, 'help')])
      // The bot responds after LINE's call; its own calls to LINE are not those of the deployment.
      await until(() => replies() > repliedBefore, 'the reply')
      const before = await dataOf(await readAs(stack, 'manager', 'admin/richmenu'), menuStatusEndpoint)
      expect(before.menus.map(({ current }) => current)).toEqual([false, false, false, false])
      const deploy = async () =>
        dataOf(await callAs(stack, 'manager', 'POST', 'admin/richmenu'), deployMenuEndpoint)
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
      // The quota is read on its own schedule.
      const asked = line.calls.slice(calls).map(({ path }) => path)
      expect(asked.filter((path) => !path.startsWith('/v2/bot/message/quota'))).toEqual([
        '/v2/bot/richmenu/list',
      ])
      // One menu was deleted by someone, and one is left from an interrupted deployment.
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
      const newcomer = await follow(stack, line, 'ja')
      expect(line.linked.get(newcomer)).toBe(second.menus.find(({ language }) => language === 'ja')!.menu_id)
      const after = await dataOf(await readAs(stack, 'manager', 'admin/richmenu'), menuStatusEndpoint)
      expect(after.menus.every(({ current }) => current)).toBe(true)
    })

    test('notifications have defaults, only the owner edits them, and each is sent once in its hour (long)', async () => {
      const path = 'admin/notifications'
      expect(await dataOf(await readAs(stack, 'manager', path), notificationsEndpoint)).toEqual({
        slots: [...DEFAULT_SLOTS],
        defaults: true,
        changed_at: null,
        changed_by: null,
      })
      const userId = await follow(stack, line, 'ja')
      const spanish = await follow(stack, line, 'es')
      const simplified = await follow(stack, line, 'zh-CN')
      const hours = [0, 1].map((ahead) => new Date(Date.now() + ahead * 60_000 + 8 * 3_600_000).getUTCHours())
      const slots = [...new Set(hours)].map((hour) => ({
        id: `now-${hour}`,
        hour,
        audience: 'all',
        text: { 'zh-Hant': '現在', en: 'It is time', ja: 'いまです' },
      }))
      await sentenceOf(await callAs(stack, 'manager', 'PUT', path, { slots }), 403, 'forbidden')
      for (const wrong of [
        { hour: 24 },
        { id: 'A B' },
        { text: {} },
        { audience: 'nobody' },
        { dates: ['2026-02-30'] },
      ])
        await sentenceOf(
          await callAs(stack, 'owner', 'PUT', path, { slots: [{ ...slots[0], ...wrong }] }),
          400,
          'invalid-request',
        )
      await sentenceOf(
        await callAs(stack, 'owner', 'PUT', path, { slots: [slots[0], slots[0]] }),
        400,
        'invalid-request',
      )
      const set = await dataOf(await callAs(stack, 'owner', 'PUT', path, { slots }), setNotificationsEndpoint)
      expect(set).toMatchObject({ defaults: false, slots: slots.map(() => ({ enabled: true, dates: null })) })
      await messageTo(line, userId, 'いまです')
      await messageTo(line, spanish, 'It is time')
      await messageTo(line, simplified, '現在')
    })

    test('a pause notifies the volunteers once; the end notifies everyone in their language', async () => {
      const volunteer = await follow(stack, line, 'en')
      const walker = await follow(stack, line, 'zh-TW')
      await checkIn(stack, walker)
      // An erased person stays in the sums.
      const erased = await follow(stack, line, 'en')
      await checkIn(stack, erased)
      await flushed(stack)
      const path = `admin/users/${erased}`
      await dataOf(await callAs(stack, 'owner', 'DELETE', path), eraseUserEndpoint)
      // Reported journeys count as far as their pilgrim walked, as on the public map.
      expect((await syncTrack(stack, walker, walk(80, Date.now() - 10 * MINUTE))).status).toBe(200)
      const reported = { user_id: walker, transport: { train: 3 } }
      await dataOf(await callAs(stack, 'owner', 'POST', 'user/sync', reported), userSyncEndpoint)
      await dataOf(
        await callAs(stack, 'owner', 'POST', 'admin/roles', {
          user_id: volunteer,
          role: 'volunteer',
        }),
        assignRoleEndpoint,
      )
      await setStatus(stack, { status: 'paused', message: 'Thunderstorm ahead' })
      await setStatus(stack, { status: 'paused', message: 'Thunderstorm ahead' })
      await setStatus(stack, { status: 'paused', message: 'Thunderstorm and hail ahead' })
      const pause = await messageTo(line, volunteer, 'Thunderstorm ahead')
      expect(pause.to).not.toContain(walker)
      await setStatus(stack, { status: 'active' })
      await setStatus(stack, { status: 'paused', messages: { 'zh-Hant': '雷雨將至', en: 'Find shelter' } })
      await messageTo(line, volunteer, 'Find shelter')
      const summaryState = async () => {
        const answer = await readAs(stack, 'volunteer', 'admin/status')
        return (await dataOf(answer, readStatusEndpoint)).ending?.summary
      }
      // The summary is incomplete while LINE accepts nothing.
      line.mishap = (path) => (path.startsWith('/v2/bot/message/') ? 'before' : 'none')
      await dataOf(await endActivity(stack), endActivityEndpoint)
      await until(
        async () => ['sending', 'sent'].includes((await summaryState()) ?? ''),
        'the summary to be stored',
      )
      expect(await summaryState()).toBe('sending')
      line.mishap = () => 'none'
      const summary = await messageTo(line, walker, '圓滿結束')
      const carbon = await readAs(stack, 'manager', 'admin/carbon')
      const { saved_kg, pilgrims } = await dataOf(carbon, carbonEndpoint)
      expect(saved_kg).toBeGreaterThan(1)
      const timeline = await readAs(stack, 'manager', 'admin/timeline')
      const { days } = await dataOf(timeline, timelineEndpoint)
      const checkIns = days.reduce((sum, { checkins }) => sum + checkins, 0)
      const said = JSON.stringify(summary.messages)
      expect(said).toContain(`${figure(saved_kg)} 公斤`)
      expect(said).toContain(`感謝 ${pilgrims} 位`)
      expect(said).toContain(`打卡 ${checkIns} 次`)
      await messageTo(line, volunteer, 'has come to its end')
      await until(async () => (await summaryState()) === 'sent', 'the summary to be complete')
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
  (kind) => lineSettings(lines[kind]),
)
