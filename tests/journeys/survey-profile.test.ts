/** Profiles, carbon and the survey as a phone sees them. */
import { describe, expect, test } from 'bun:test'
import { phoneEndpoint, photoCountEndpoint, userSyncEndpoint } from '#shared/contracts/profile.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import {
  admin,
  checkIn,
  flushed,
  newPilgrimId,
  PLACE,
  readAs,
  setStatus,
  syncTrack,
} from '#tests/helpers/test-stack.ts'
import { MINUTE, post, profileOf, walk } from '#tests/helpers/pilgrim.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { submitEndpoint, surveyEndpoint } from '#shared/contracts/survey.ts'
import { surveysEndpoint } from '#shared/contracts/reports.ts'

describeBothStacks('survey-profile', (stack) => {
  describe('user/sync', () => {
    test('creates the pilgrim and returns the whole profile', async () => {
      const userId = newPilgrimId()
      const body = {
        user_id: userId,
        display_name: '林 <b>小美</b>',
        picture_url: 'https://x.test/p.png',
        language: 'zh-TW',
      }
      const profile = await dataOf(await post(stack, 'user/sync', body), userSyncEndpoint)
      expect(profile).toMatchObject({ userId, display_name: '林 <b>小美</b>', level: 1, km: 0, checkins: 0 })
      expect(await profileOf(stack, userId)).toEqual(profile)
    })

    test('absent, null and empty fields delete nothing', async () => {
      const userId = newPilgrimId()
      await post(stack, 'user/sync', { user_id: userId, display_name: '名', picture_url: 'https://x.test/1' })
      const answer = await post(stack, 'user/sync', { userId, display_name: '', picture_url: null })
      expect(await dataOf(answer, userSyncEndpoint)).toMatchObject({
        display_name: '名',
        picture_url: 'https://x.test/1',
      })
    })

    test('the language is a BCP 47 tag, whatever else objects have under that name', async () => {
      const statusOf = async (language: string) =>
        (await post(stack, 'user/sync', { user_id: newPilgrimId(), language })).status
      for (const tag of ['zh-TW', 'zh_TW', 'en', 'sr-Latn-RS', 'toString', 'valueOf'])
        expect([tag, await statusOf(tag)]).toEqual([tag, 200])
      for (const text of ['constructor', '__proto__', 'hasOwnProperty', 'en us', '中文', 'en-', 'a-b-c'])
        expect([text, await statusOf(text)]).toEqual([text, 400])
      const userId = newPilgrimId()
      await post(stack, 'user/sync', { user_id: userId, language: 'toString' })
      await checkIn(stack, userId)
      expect((await stack.fetch(`/api/event/og/${userId}.png`)).status).toBe(200)
    })

    test('each given counter replaces the stored one; the others stay', async () => {
      const userId = newPilgrimId()
      const sync = async (fields: object) =>
        (await dataOf(await post(stack, 'user/sync', { user_id: userId, ...fields }), userSyncEndpoint))
          .carbon_kg
      expect(await sync({ consumption: { water: 10 } })).toBe(1.097)
      expect(await sync({ consumption: { hotel: 1 } })).toBe(9.947)
      expect(await sync({ consumption: { water: 0, recycle: 100 } })).toBe(8.585)
      expect(await sync({ transport: { car: 100 } })).toBe(39.064)
      // An unknown mode counts as bus.
      expect(await sync({ transport: { rickshaw: 10 } })).toBe(43.816)
    })

    test('a mode is the same however it is written', async () => {
      const userId = newPilgrimId()
      const sync = async (transport: object) =>
        (await dataOf(await post(stack, 'user/sync', { user_id: userId, transport }), userSyncEndpoint))
          .carbon_kg
      expect(await sync({ ' Car ': 100 })).toBe(30.479)
      expect(await sync({ CAR: 10 })).toBe(3.048)
    })

    test('twenty modes are the maximum over all calls', async () => {
      const userId = newPilgrimId()
      const sync = (from: number, count: number) =>
        post(stack, 'user/sync', {
          user_id: userId,
          transport: Object.fromEntries(Array.from({ length: count }, (_, i) => [`mode${from + i}`, 1])),
        })
      expect((await sync(0, 20)).status).toBe(200)
      expect(await sentenceOf(await sync(20, 1), 400, 'invalid-request')).toStartWith('transport: ')
      expect((await sync(5, 10)).status).toBe(200)
      // 20 unknown modes: 20 km by bus; the rejected modes add nothing.
      expect((await profileOf(stack, userId)).carbon_kg).toBe(9.503)
    })

    test('two concurrent first writes create one pilgrim', async () => {
      const userId = newPilgrimId()
      const writes = await Promise.all([
        post(stack, 'user/sync', { user_id: userId, display_name: '甲' }),
        post(stack, 'user/phone', { user_id: userId, phone: '0912345678' }),
        post(stack, 'privacy', { user_id: userId }),
        post(stack, 'user/sync', { user_id: userId, language: 'ja' }),
      ])
      expect(writes.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(await profileOf(stack, userId)).toMatchObject({
        display_name: '甲',
        phone: '••••••••',
        privacy_agreed: true,
      })
    })

    test.each([
      [{ consumption: { water: -1 } }, 'consumption.water'],
      [{ consumption: { water: 1.5 } }, 'consumption.water'],
      [{ transport: { car: -1 } }, 'transport.car'],
      [{ transport: { car: '5' } }, 'transport.car'],
      [{ transport: { car: 5_000.1 } }, 'transport.car'],
      [{ transport: { car: 5_000, sled: 3_000, raft: 2_001 } }, 'transport'],
      [{ consumption: { hotel: 5_001 } }, 'consumption.hotel'],
      [{ transport: { ' ': 1 } }, 'transport'],
      [{ transport: { Car: 1, car: 2 } }, 'transport'],
      [{ transport: { 'car\u0000': 1 } }, 'transport'],
      [{ picture_url: 'javascript:alert(1)' }, 'picture_url'],
      [{ picture_url: 'http://x.test/p.png' }, 'picture_url'],
      [{ picture_url: 'https://x.test/\u0000' }, 'picture_url'],
      [{ picture_url: 'https:\\\\x.test/p' }, 'picture_url'],
      [{ display_name: 'x\u0000' }, 'display_name'],
      [{ display_name: 'x'.repeat(201) }, 'display_name'],
    ])('%j is 400 and names the field', async (fields, named) => {
      const answer = await post(stack, 'user/sync', { user_id: newPilgrimId(), ...fields })
      expect(await sentenceOf(answer, 400, 'invalid-request')).toContain(named)
    })
  })

  describe('user/phone', () => {
    test.each([['0912345678'], ['+886 (912) 345-678'], ['123456'], ['123456789012345']])(
      '%s is taken',
      async (phone) => {
        const answer = await dataOf(
          await post(stack, 'user/phone', { user_id: newPilgrimId(), phone }),
          phoneEndpoint,
        )
        expect(answer.phone).toEndWith(phone.slice(-2))
        expect(answer.phone).not.toContain(phone.slice(0, -2))
      },
    )

    test.each([['12345'], ['1234567890123456'], ['0912x45678'], [12345678]])('%p is 400', async (phone) => {
      const answer = await post(stack, 'user/phone', { user_id: newPilgrimId(), phone })
      expect(await sentenceOf(answer, 400, 'invalid-request')).toStartWith('phone: ')
    })

    test('null and empty clear it; phone_number is an alias; absent is 400', async () => {
      const userId = newPilgrimId()
      const phone = async (fields: object) =>
        (await dataOf(await post(stack, 'user/phone', { user_id: userId, ...fields }), phoneEndpoint)).phone
      expect(await phone({ phone_number: '0912345678' })).toBe('••••••••78')
      expect(await phone({ phone: null })).toBeNull()
      expect(await phone({ phone: '0912345679' })).toBe('••••••••79')
      expect(await phone({ phone: '' })).toBeNull()
      expect((await profileOf(stack, userId)).phone).toBeNull()
      await sentenceOf(await post(stack, 'user/phone', { user_id: userId }), 400, 'invalid-request')
    })
  })

  test('the achievement card needs three check-ins, a survey and a phone', async () => {
    const userId = newPilgrimId()
    const card = async () => (await profileOf(stack, userId)).achievement_card
    const now = Date.now()
    await post(stack, 'submit', { user_id: userId, q1: 'x' })
    await post(stack, 'user/phone', { user_id: userId, phone: '0912345678' })
    for (const minutes of [3, 2]) await checkIn(stack, userId, { timestamp: now - minutes * MINUTE })
    expect(await card()).toBe('locked')
    await checkIn(stack, userId, { timestamp: now - MINUTE })
    expect(await card()).toBe('unlocked')
    await post(stack, 'user/phone', { user_id: userId, phone: null })
    expect(await card()).toBe('locked')
  })

  test('distance and carbon: by speed, by the mode of the ending point, and the same before and after the flush', async () => {
    const userId = newPilgrimId()
    const end = Date.now()
    const points = walk(4, end - 10 * MINUTE)
    const last = points.at(-1)!
    // About 1.11 km in two minutes each: 33 km/h, once without a mode and once by car.
    const rides = [
      { lat: last.lat + 0.01, lng: PLACE.lng, timestamp: end - 8 * MINUTE },
      { lat: last.lat + 0.02, lng: PLACE.lng, timestamp: end - 6 * MINUTE, mode: 'car' },
    ]
    await syncTrack(stack, userId, [...points, ...rides])
    const before = await profileOf(stack, userId, admin('volunteer'))
    expect(before).toMatchObject({ km: 2.39, carbon_kg: 0.867, checkins: 0 })
    await flushed(stack)
    const { first_seen, last_seen, ...figures } = await profileOf(stack, userId, admin('volunteer'))
    expect(before).toMatchObject(figures)
    expect([first_seen, last_seen]).toEqual([before.first_seen, before.last_seen])
  })

  test.each([' Walk ', 'WALK', '', null])('a ride with the mode %j is not one by bus', async (mode) => {
    const userId = newPilgrimId()
    const end = Date.now() - MINUTE
    // About 1.11 km in ten minutes: a walk, by its speed.
    const ride = [
      { ...PLACE, timestamp: end - 10 * MINUTE },
      { ...PLACE, lat: PLACE.lat + 0.01, timestamp: end, mode, source: `${'x'.repeat(63)}😀 and more` },
    ]
    const answer = await dataOf(await syncTrack(stack, userId, ride), trackSyncEndpoint)
    expect(answer).toMatchObject({ accepted: 2, rejected: [] })
    expect(await profileOf(stack, userId)).toMatchObject({ km: 1.11, carbon_kg: 0 })
    await flushed(stack)
    expect(await profileOf(stack, userId)).toMatchObject({ km: 1.11, carbon_kg: 0 })
    const exported = await readAs(stack, 'owner', `admin/users/${userId}/export`)
    const { gps_points: points } = (await exported.json()) as { gps_points: { source: string | null }[] }
    expect(points.map(({ source }) => source)).toContain('x'.repeat(63))
  })

  test('photos/count answers zero for someone without photos, and needs an id', async () => {
    const userId = newPilgrimId()
    const answer = await stack.fetch(`/api/event/photos/count?user_id=${userId}`)
    expect(await dataOf(answer, photoCountEndpoint)).toEqual({ userId, photo_count: 0 })
    await sentenceOf(await stack.fetch('/api/event/photos/count'), 400, 'invalid-request')
  })

  test('an unknown pilgrim is 404', async () => {
    await sentenceOf(await stack.fetch(`/api/event/user/${newPilgrimId()}`), 404, 'not-found')
  })

  describe('survey', () => {
    describe('survey', () => {
      test.each([
        ['survey', { survey: { q1: 'yes', Q10: 3, q2_reason: ['a', 'b'], q3: false } }],
        ['answers', { answers: { q1: 'yes', Q10: 3, q2_reason: ['a', 'b'], q3: false } }],
        ['top level', { q1: 'yes', Q10: 3, q2_reason: ['a', 'b'], q3: false, other: 'ignored' }],
      ])('answers as %s', async (_, form) => {
        const userId = newPilgrimId()
        const answer = await dataOf(await post(stack, 'submit', { user_id: userId, ...form }), submitEndpoint)
        expect(answer).toMatchObject({ userId, answers: 4, revision: 1, track: null })
        expect((await profileOf(stack, userId)).survey_completed).toBe(1)
      })

      test('a re-submission replaces; both names share one limit of 2 in 600 s', async () => {
        const userId = newPilgrimId()
        const submit = (path: string, q1: string) => post(stack, path, { user_id: userId, survey: { q1 } })
        await sentenceOf(await post(stack, 'submit', { user_id: userId, survey: {} }), 400, 'invalid-request')
        expect((await dataOf(await submit('submit', 'a'), submitEndpoint)).revision).toBe(1)
        expect((await dataOf(await submit('survey', 'b'), surveyEndpoint)).revision).toBe(2)
        const refused = await submit('submit', 'c')
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(590)
        expect(refused.headers.get('ratelimit-policy')).toBe('"survey";q=2;w=600')
        await sentenceOf(refused, 429, 'rate-limited')
      })

      test.each([
        [{ survey: { q11: 'x' } }, 'q11'],
        [{ survey: { q0: 'x' } }, 'q0'],
        [{ survey: { extra: 'x' } }, 'extra'],
        [{ survey: { q1: { deep: 1 } } }, 'q1'],
        [{ survey: { q1: Array.from({ length: 51 }, () => 'x') } }, 'q1'],
        [{ survey: { q1: ['x'.repeat(501)] } }, 'q1'],
        [{ survey: { q1: 'x\u0000' } }, 'q1'],
        [{ survey: { 'q1_\u0000': 'x' } }, 'q1_'],
        [{ answers: { 'q1_\ud800': 'x' } }, 'q1_'],
        [{ 'q1_\u0000': 'x' }, 'q1_'],
        [{ survey: { [`q1_${'x'.repeat(62)}`]: 'x' } }, 'q1_'],
        [
          { survey: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`q1_${i}`, i])) },
          'at most 100',
        ],
        [
          {
            survey: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`q1_${i}`, i])),
            answers: Object.fromEntries(Array.from({ length: 41 }, (_, i) => [`q2_${i}`, i])),
          },
          'at most 100',
        ],
        [{ survey: [] }, 'survey'],
        [{ answers: 'yes' }, 'answers'],
        [{}, 'survey'],
      ])('%j is 400 and names it', async (fields, named) => {
        const answer = await post(stack, 'submit', { user_id: newPilgrimId(), ...fields })
        expect(await sentenceOf(answer, 400, 'invalid-request')).toContain(named)
      })

      test('an unknown name beside the answers is ignored, at the top level and inside', async () => {
        const answer = await post(stack, 'submit', {
          user_id: newPilgrimId(),
          survey: { q1: 'yes', name: 'Anna', q11: { deep: 1 } },
          answers: { q2: 'no', Q0: 3 },
          other: 1,
        })
        expect(await dataOf(answer, submitEndpoint)).toMatchObject({
          answers: 2,
          ignored: ['survey.name', 'survey.q11', 'answers.Q0', 'other'],
        })
      })

      test('an empty list is an answer; a valid phone number is stored, an invalid one ignored', async () => {
        const [one, other] = [newPilgrimId(), newPilgrimId()]
        await dataOf(
          await post(stack, 'submit', { user_id: one, q1: [], phone: '0911222333' }),
          submitEndpoint,
        )
        expect((await profileOf(stack, one)).phone).toBe('••••••••')
        await dataOf(await post(stack, 'submit', { user_id: other, q1: 'x', phone: 'none' }), submitEndpoint)
        expect((await profileOf(stack, other)).phone).toBeNull()
      })

      const exportOf = async (userId: string) => {
        const answer = await readAs(stack, 'owner', `admin/users/${userId}/export`)
        return (await answer.json()) as { surveys: { answers: object }[] }
      }

      test('the forms are merged, Q1 is q1, and the answer lists ignored fields', async () => {
        const userId = newPilgrimId()
        const given = {
          user_id: userId,
          survey: { q1: 'a', Q3: 'c', q5: null, q9_note: 'same' },
          answers: { q1: 'another', q4: ['d'], q9_note: 'same' },
          q2: 'b',
          Q10: true,
          q11: 'no such question',
          name: 'Lin',
          profile: { role: 'walker', age: 40 },
          line_display_name: ' 小林 ',
          phone: 'none',
        }
        const answer = await dataOf(await post(stack, 'submit', given), submitEndpoint)
        expect(answer).toMatchObject({ answers: 7, phone: 'invalid' })
        expect(answer.ignored.toSorted()).toEqual(['answers.q1', 'name', 'profile.age', 'q11'])
        const [stored] = (await exportOf(userId)).surveys
        expect(stored!.answers).toEqual({
          q1: 'a',
          q2: 'b',
          q3: 'c',
          q4: ['d'],
          q7: 'walker',
          q9_note: 'same',
          q10: true,
        })
        expect(await profileOf(stack, userId)).toMatchObject({ display_name: '小林', phone: null })
      })

      test('a role does not replace an answer to q7; an invalid name or phone deletes nothing', async () => {
        const userId = newPilgrimId()
        const first = await post(stack, 'submit', {
          user_id: userId,
          profile: { role: 'walker' },
          line_display_name: '林',
          phone_number: '0911222333',
        })
        expect(await dataOf(first, submitEndpoint)).toMatchObject({
          answers: 1,
          phone: 'stored',
          ignored: [],
        })
        const second = await post(stack, 'submit', {
          user_id: userId,
          survey: { q7: 'driver' },
          profile: { role: 'walker' },
          line_display_name: 'x'.repeat(201),
          phone: '',
        })
        const answer = await dataOf(second, submitEndpoint)
        expect(answer).toMatchObject({ answers: 1, phone: 'absent' })
        expect(answer.ignored.toSorted()).toEqual(['line_display_name', 'profile.role as q7'])
        expect((await exportOf(userId)).surveys[0]!.answers).toEqual({ q7: 'driver' })
        expect(await profileOf(stack, userId)).toMatchObject({ display_name: '林', phone: '••••••••' })
      })

      test('gps_points are accepted as a track; while paused the survey is stored and the points are refused', async () => {
        const userId = newPilgrimId()
        const gps_points = walk(3, Date.now())
        const taken = await dataOf(
          await post(stack, 'submit', { user_id: userId, q1: 'x', gps_points }),
          submitEndpoint,
        )
        expect(taken.track).toMatchObject({ accepted: 3, duplicates: 0, rejected: [] })
        expect((await profileOf(stack, userId)).km).toBe(0.11)
        await setStatus(stack, { status: 'paused' })
        const stored = await dataOf(
          await post(stack, 'submit', { user_id: userId, q1: 'y', gps_points }),
          submitEndpoint,
        )
        await setStatus(stack, { status: 'active' })
        expect(stored).toMatchObject({ revision: 2, track: { refused: expect.stringContaining('paused') } })
      })
    })

    test('invented question names do not make the list or the CSV grow, and no answer is lost', async () => {
      const people = Array.from({ length: 8 }, newPilgrimId)
      for (const [n, user_id] of people.entries()) {
        const invented = Array.from({ length: 97 }, (_, i) => [`q${(i % 10) + 1}_by${n}_${i}`, 'x'])
        const survey = { q2: 'b', q10: 'j', ...Object.fromEntries(invented), q1_reason: 'because' }
        await dataOf(await post(stack, 'submit', { user_id, survey }), submitEndpoint)
      }
      const read = (headers: object) =>
        stack.fetch('/api/event/admin/surveys?limit=200', { headers: { ...admin('manager'), ...headers } })
      const { responses, counts } = await dataOf(await read({}), surveysEndpoint)
      expect(Object.keys(responses).length).toBeLessThanOrEqual(60)
      expect(Object.keys(counts)).toEqual(Object.keys(responses))
      expect(responses).toMatchObject({ q1_reason: 8 })
      const order = Object.keys(responses).map((name) => Number(/\d+/.exec(name)))
      expect(order).toEqual(order.toSorted((a, b) => a - b))

      const [head = '', ...lines] = (await (await read({ Accept: 'text/csv' })).text()).split('\r\n')
      const columns = head.split(',').map((cell) => cell.replaceAll('"', ''))
      expect(columns.length).toBeLessThanOrEqual(5 + 60 + 1)
      const numbers = columns.slice(5, -1).map((name) => Number(/^q(\d+)/.exec(name)![1]))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(columns.at(-1)).toBe('other_answers')
      // Each name has its own column, or is in the last one.
      const mine = lines.find((text) => text.includes(people[3]!))!
      for (let i = 0; i < 97; i++) {
        const name = `q${(i % 10) + 1}_by3_${i}`
        expect(columns.includes(name) || mine.includes(`""${name}"":""x""`)).toBe(true)
      }
    })
  })
})
