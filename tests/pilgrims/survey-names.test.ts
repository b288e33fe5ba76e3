/** The number of stored question names is limited, however many pilgrims invent some. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { submitSurvey, type TrackAdmission } from '#services/survey-profile/submit-survey.ts'
import { SubmitRequest } from '#shared/contracts/survey.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { newPilgrimId } from '#tests/helpers/test-stack.ts'

describeOnServers('names of questions', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())

  const submit = (survey: Record<string, string>, user_id = newPilgrimId()) =>
    submitSurvey(late.context, {} as TrackAdmission, SubmitRequest.parse({ user_id, survey }))
  const invented = (batch: number) =>
    Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`q2_${batch}_${i}`, 'x']))
  const names = async () => {
    const [row] = await late.context.db.sql<[{ n: number }]>`SELECT count(*)::int AS n FROM survey_questions`
    return row.n
  }

  test('beyond a thousand new ones are ignored and named, and known ones are taken', async () => {
    for (let batch = 0; batch < 12; batch++) await submit(invented(batch)).catch(() => undefined)
    const full = await names()
    expect(full).toBeLessThanOrEqual(1_101)
    const userId = newPilgrimId()
    const answer = await submit({ q1: 'walking', q2_0_0: 'x', q3_new: 'y' }, userId)
    expect(answer).toMatchObject({ answers: 2, ignored: ['q3_new'] })
    const [stored] = await late.context.db.sql<[{ answers: string }]>`
      SELECT answers::text AS answers FROM surveys WHERE user_id = ${userId}`
    expect(JSON.parse(stored.answers)).toEqual({ q1: 'walking', q2_0_0: 'x' })
    expect(await rejection(submit({ q4_new: 'z' }))).toMatchObject({ httpStatus: 400 })
    // The form's own question may be one more name.
    expect(await names()).toBeLessThanOrEqual(full + 1)
  })
})
