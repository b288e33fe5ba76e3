/** The survey as a phone sees it. */
import { describe, expect, test } from 'bun:test'
import { submitEndpoint, surveyEndpoint } from '#shared/contracts/survey.ts'
import { surveysEndpoint } from '#shared/contracts/reports.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { admin, newPilgrimId, setStatus } from '#tests/helpers/test-stack.ts'
import { post, profileOf, walk } from '#tests/helpers/pilgrim.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

describeBothStacks('survey', (stack) => {
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
      [{ survey: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`q1_${i}`, i])) }, 'at most 100'],
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
      await dataOf(await post(stack, 'submit', { user_id: one, q1: [], phone: '0911222333' }), submitEndpoint)
      expect((await profileOf(stack, one)).phone).toBe('••••••••')
      await dataOf(await post(stack, 'submit', { user_id: other, q1: 'x', phone: 'none' }), submitEndpoint)
      expect((await profileOf(stack, other)).phone).toBeNull()
    })

    const exportOf = async (userId: string) => {
      const answer = await stack.fetch(`/api/event/admin/users/${userId}/export`, { headers: admin('owner') })
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
      expect(await dataOf(first, submitEndpoint)).toMatchObject({ answers: 1, phone: 'stored', ignored: [] })
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
    expect(columns.length).toBeLessThanOrEqual(4 + 60 + 1)
    const numbers = columns.slice(4, -1).map((name) => Number(/^q(\d+)/.exec(name)![1]))
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
