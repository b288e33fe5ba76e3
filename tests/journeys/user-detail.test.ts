/** One pilgrim as a manager sees them; each call is audited. */
import { expect, test } from 'bun:test'
import { z } from 'zod'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { submitFeedbackEndpoint } from '#shared/contracts/feedback.ts'
import { userEndpoint, type UserDetail } from '#shared/contracts/user-detail.ts'
import { ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import {
  admin,
  callAs,
  checkIn,
  flushed,
  newPilgrimId,
  PLACE,
  readAs,
  syncTrack,
} from '#tests/helpers/test-stack.ts'

/** Operators' reads that return a file or concern one pilgrim. */
const AUDITED = ENDPOINTS.filter(
  ({ method, access, path, downloads }) =>
    method === 'GET' && access in ROLE_LEVEL && (downloads.length > 0 || path.includes(':userId')),
)

/**
 * Reads that are not audited: the live map and short profiles, which pilgrims read too, and paged lists that
 * the console polls every few seconds, among them emergencies, whose confirmation is audited.
 */
const SHOWN_IN_PAGES = [
  'readMap',
  'readProfile',
  'listUsers',
  'listSurveys',
  'listRoles',
  'listFeedback',
  'listDeadLetters',
  'readDeadLetter',
  'listMessages',
  'listLeftOut',
  'readPush',
  'listAudit',
  'listEmergencies',
]

test('whatever else tells operators the ids of pilgrims is known', () => {
  const telling = ENDPOINTS.filter(
    ({ method, access, data }) =>
      method === 'GET' &&
      (access in ROLE_LEVEL || access === 'optional') &&
      /"(user_?ids?|people|userId)"/i.test(JSON.stringify(z.toJSONSchema(data, { unrepresentable: 'any' }))),
  )
  const unknown = telling.filter((one) => !AUDITED.includes(one)).map(({ id }) => id)
  expect(unknown.filter((id) => !SHOWN_IN_PAGES.includes(id))).toEqual([])
})

describeBothStacks(
  'one pilgrim',
  (stack) => {
    const show = (userId: string, init: RequestInit = {}) =>
      stack.fetch(`/api/event/admin/users/${userId}`, { headers: admin('manager'), ...init })
    const detail = async (userId: string): Promise<UserDetail> => dataOf(await show(userId), userEndpoint)
    const looks = async (userId: string, look = 'show-user') => {
      const answer = await readAs(stack, 'owner', 'admin/audit?limit=200')
      const { items } = await dataOf(answer, auditEndpoint)
      return items.filter(({ action, details }) => action === look && details.user_id === userId)
    }

    test('each export is audited, also of a pilgrim who is known only in the buffer', async () => {
      const userId = newPilgrimId()
      expect((await checkIn(stack, userId)).status).toBe(202)
      for (const format of ['json', 'gpx']) {
        const path = `/api/event/admin/users/${userId}/export?format=${format}`
        const answer = await stack.fetch(path, { headers: admin('owner') })
        expect(answer.status).toBe(200)
        await answer.body!.cancel()
      }
      expect(await looks(userId, 'export-user')).toHaveLength(2)
    })

    test('every file of personal data, and every look at one pilgrim, is in the audit log', async () => {
      const userId = newPilgrimId()
      await post(stack, 'user/sync', { user_id: userId, display_name: '林阿甲' })
      await post(stack, 'submit', { user_id: userId, q1: 'yes' })
      const log = async () => {
        const answer = await readAs(stack, 'owner', 'admin/audit?limit=200')
        return (await dataOf(answer, auditEndpoint)).items
      }
      for (const { path, downloads } of AUDITED)
        for (const media of downloads.length > 0 ? downloads : ['application/json']) {
          const before = await log()
          const format = media.replace(/^.*\//, '').replace('+xml', '')
          const answer = await stack.fetch(`${path.replace(':userId', userId)}?format=${format}`, {
            headers: { ...admin('owner'), Accept: media },
          })
          expect({ path, type: answer.headers.get('content-type')?.split(';')[0] }).toEqual({
            path,
            type: media,
          })
          await answer.body!.cancel()
          const [latest, ...rest] = await log()
          expect(rest.slice(0, before.length)).toEqual(before.slice(0, rest.length))
          const about = path.includes(':userId') ? { user_id: userId } : {}
          expect({ path, ...latest }).toMatchObject({
            path,
            role: 'owner',
            details: { ...about, ...(downloads.length > 0 ? { format } : {}) },
            display_name: path.includes(':userId') ? '林阿甲' : null,
          })
        }
      const found = await readAs(stack, 'owner', `admin/audit?search=${encodeURIComponent('林阿甲')}`)
      expect((await dataOf(found, auditEndpoint)).items.map(({ action }) => action)).toContain('export-user')
    })

    test('lists the texts of operators that contain the name, which an erasure leaves', async () => {
      const [userId, other] = [newPilgrimId(), newPilgrimId()]
      await post(stack, 'user/sync', { user_id: userId, display_name: '林阿乙' })
      await post(stack, 'user/sync', { user_id: other, display_name: '乙' })
      const written = await post(stack, 'feedback', { user_id: other, category: 'app', description: 'hello' })
      const { id } = await dataOf(written, submitFeedbackEndpoint)
      const texts = { message: 'Please look after 林阿乙.', note: '林阿乙 reported it' }
      const say = (path: string, method: string, body: object) =>
        stack.fetch(`/api/event/${path}`, { method, headers: admin('manager'), body: JSON.stringify(body) })
      expect(
        (await say('push', 'POST', { user_ids: [lineUser(0x8_000_002)], text: texts.message })).status,
      ).toBe(200)
      expect((await say(`feedback/${id}`, 'PATCH', { admin_note: texts.note })).status).toBe(200)
      const named = (await detail(userId)).named_in
      for (const kind of ['message', 'note'] as const)
        expect(named).toContainEqual({ kind, text: texts[kind], at: expect.any(String) })
      // A one-character name would occur in half of all texts.
      expect((await detail(other)).named_in).toEqual([])
    })

    test('shows everything that is known; each call is audited', async () => {
      const userId = lineUser(0x8_000_001)
      const now = Date.now()
      const times = Array.from({ length: 12 }, (_, i) => now - (12 - i) * 5 * MINUTE - 60 * MINUTE)
      const track = times.slice(0, 11).map((timestamp) => ({ ...PLACE, timestamp }))
      expect((await syncTrack(stack, userId, track)).status).toBe(200)
      for (const timestamp of times.slice(0, 9))
        expect((await checkIn(stack, userId, { timestamp })).status).toBe(202)
      await post(stack, 'user/sync', {
        user_id: userId,
        display_name: 'An',
        language: 'ja',
        consumption: { water: 2 },
        transport: { car: 3 },
      })
      await post(stack, 'user/phone', { user_id: userId, phone: '+886 912-345-678' })
      for (const [agreed, version] of [
        [true, '1'],
        [false, '1'],
        [true, '2'],
      ] as const)
        await post(stack, 'privacy', { user_id: userId, agreed, version })
      await post(stack, 'submit', { user_id: userId, q1: 'yes', q2: ['a', 'b'] })
      await post(stack, 'feedback', { user_id: userId, category: 'app', description: 'hello' })
      await callAs(stack, 'manager', 'POST', 'admin/roles', { user_id: userId, role: 'volunteer' })
      await flushed(stack)

      const shown = await detail(userId)
      const { phone, ...profile } = await profileOf(stack, userId, admin('volunteer'))
      expect(shown).toMatchObject(profile)
      expect(phone).not.toBe(shown.phone)
      expect(shown).toMatchObject({
        phone: '+886 912-345-678',
        language: 'ja',
        role: 'volunteer',
        reachable: true,
        reachable_changed_at: null,
        privacy_version: '2',
        consent_withdrawn: false,
        consents: [
          { agreed: true, version: '2' },
          { agreed: false, version: '1' },
          { agreed: true, version: '1' },
        ],
        survey: { revision: 1, answers: { q1: 'yes', q2: ['a', 'b'] } },
        consumption: { water: 2 },
        transport: { car: 3 },
        stored_points: 20,
        pending: 0,
        first_seen: new Date(times[0]!).toISOString(),
        last_seen: new Date(times[10]!).toISOString(),
        recent_feedback: [{ category: 'app', status: 'new' }],
      })
      expect(shown.role_assigned_by).toStartWith('manager')
      expect(shown.created_at! <= shown.updated_at!).toBe(true)
      expect(shown.recent_checkins.map(({ recorded_at }) => Date.parse(recorded_at))).toEqual(
        times.slice(0, 9).reverse(),
      )

      const [look, ...earlier] = await looks(userId)
      expect(earlier).toEqual([])
      expect(look).toMatchObject({ role: 'manager', details: { user_id: userId } })
      await detail(userId)
      expect(await looks(userId)).toHaveLength(2)
    })

    test('an unknown pilgrim: 404, and the log has only the ids of people', async () => {
      const userId = newPilgrimId()
      await sentenceOf(await show(userId), 404, 'not-found')
      await sentenceOf(await show('not/an/id'), 404, 'not-found')
      await sentenceOf(await show('%20'), 400, 'invalid-request')
      await sentenceOf(await show(userId, { headers: admin('volunteer') }), 403, 'forbidden')
      await sentenceOf(await show(userId, { headers: {} }), 401, 'unauthorized')
      expect(await looks(userId)).toEqual([])
    })

    test('a role is given to somebody who is known, and not to an id that nobody has', async () => {
      const give = (userId: string, role: 'volunteer' | null) =>
        callAs(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role })
      const [pending, written, nobody] = [newPilgrimId(), newPilgrimId(), newPilgrimId()]
      await checkIn(stack, pending)
      await post(stack, 'user/sync', { user_id: written })
      for (const userId of [pending, written]) expect((await give(userId, 'volunteer')).status).toBe(200)
      for (const role of ['volunteer', null] as const)
        expect(await sentenceOf(await give(nobody, role), 404, 'not-found')).toContain(nobody)
      await sentenceOf(await show(nobody), 404, 'not-found')
      expect(await looks(nobody)).toEqual([])
    })

    test('an erasure removes the pilgrim from the audit log', async () => {
      const userId = newPilgrimId()
      await checkIn(stack, userId)
      await flushed(stack)
      await detail(userId)
      expect(await looks(userId)).toHaveLength(1)
      const path = `/api/event/admin/users/${userId}`
      expect((await stack.fetch(path, { method: 'DELETE', headers: admin('owner') })).status).toBe(200)
      expect(await looks(userId)).toEqual([])
    })
  },
  { EVENT_LIMIT_CHECKIN: '100' },
)
