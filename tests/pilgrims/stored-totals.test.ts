/** Sums of pilgrims' reports, maintained by concurrent writers, equal a recount. */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { mergeReported, upsertPilgrim } from '#services/survey-profile/write-profile.ts'
import type { Answers } from '#shared/contracts/survey.ts'
import { addErasedReportTotals, recountReported } from '#shared/pilgrims/report-totals.ts'
import { consumptionMg, reportedAmounts, transportSums } from '#shared/core/rules/carbon.ts'
import { countSurvey, recountSurveys } from '#shared/pilgrims/survey-counts.ts'
import { pilgrims } from '#shared/stores/schema/tables.ts'
import { describeFlushHarness, type FlushHarness } from '../scheduler/flush-harness.ts'
import { createRandom } from '#tests/helpers/random.ts'

const WRITES = 120
const PEOPLE = 12
const MODES = ['car', 'walk', 'bus', 'submarine', '__proto__', 'hsr']

/** Distances, including those whose carbon is exactly between two milligrams. */
const somewhere = (random: () => number) => ({
  consumption: {
    water: Math.floor(random() * 50),
    [random() < 0.5 ? 'recycle' : 'hotel']: Math.floor(random() * 9),
  },
  transport: Object.fromEntries(
    MODES.filter(() => random() < 0.5).map((mode) => [
      mode,
      Math.round(random() * 4_000) / 20 + (random() < 0.3 ? 1e-7 : 0),
    ]),
  ),
})

const reportedSums = (harness: FlushHarness) =>
  harness.db.sql<{ name: string; amount: number; mg: number }[]>`
    SELECT name, sum(amount)::float8 AS amount, sum(carbon_mg)::float8 AS mg FROM reported_sums
    GROUP BY name HAVING sum(amount) <> 0 ORDER BY name`

const surveySums = async (harness: FlushHarness) => ({
  questions: await harness.db.sql`SELECT * FROM survey_questions ORDER BY question`,
  counts: await harness.db.sql`SELECT * FROM survey_counts ORDER BY question, answer`,
})

describeFlushHarness('kept sums', (harness) => {
  test('of reports: one by one and all at once, with erased people, as a recount has them', async () => {
    await harness.db.sql`TRUNCATE reported_sums`
    const random = createRandom(7)
    const writes = Array.from({ length: WRITES }, () => ({
      userId: `p${Math.floor(random() * PEOPLE)}`,
      given: somewhere(random),
    }))
    await Promise.all(
      writes.map(({ userId, given }) =>
        harness.db.transaction(async (tx) =>
          mergeReported(tx, await upsertPilgrim(tx, userId, {}, harness.nowMs), given),
        ),
      ),
    )
    const kept = await reportedSums(harness)
    const rows = await harness.db.orm.select().from(pilgrims)
    const totalMg = rows.reduce(
      (sum, row) => sum + consumptionMg(row.consumption) + transportSums(row.transport).carbonMg,
      0,
    )
    expect(kept.reduce((sum, { mg }) => sum + mg, 0)).toBe(totalMg)
    await harness.db.transaction(async (tx) => {
      await tx.orm.execute(sql`DELETE FROM pilgrims WHERE user_id = ${rows[0]!.userId}`)
      await addErasedReportTotals(tx, rows[0]!)
    })
    expect(await reportedSums(harness)).toEqual(kept)
    await harness.db.transaction((tx) => recountReported(tx))
    expect(await reportedSums(harness)).toEqual(kept)
    // An operator who considers the reports of erased people fake drops these, and only these.
    await harness.db.transaction((tx) => recountReported(tx, { dropErased: true }))
    const ofOthers = rows.slice(1).flatMap((row) => [...reportedAmounts(row).values()])
    const left = await reportedSums(harness)
    expect(left).not.toEqual(kept)
    expect(left.reduce((sum, { mg }) => sum + mg, 0)).toBe(
      ofOthers.reduce((sum, { carbonMg }) => sum + carbonMg, 0),
    )
  })

  test('of reports: nobody reports more than 5,000 km a mode, in any spelling or number of calls', async () => {
    await harness.db.sql`TRUNCATE reported_sums`
    const report = (transport: Record<string, number>) =>
      harness.db.transaction(async (tx) =>
        mergeReported(tx, await upsertPilgrim(tx, 'far', {}, harness.nowMs), { consumption: {}, transport }),
      )
    await report({ bus: 2_000, car: 5_000 })
    await report({ sled: 3_000 })
    const kept = await reportedSums(harness)
    expect(kept.find(({ name }) => name === 'bus')?.amount).toBe(5_000 * 1e6)
    expect(await report({ raft: 1 }).catch(String)).toContain('5,000 km')
    expect(await report({ bus: 2_001 }).catch(String)).toContain('5,000 km')
    expect(await reportedSums(harness)).toEqual(kept)
    // Values stored before the limit existed do not prevent smaller or other reports.
    await harness.db.sql`UPDATE pilgrims SET transport = '{"car": 900000}'::jsonb WHERE user_id = 'far'`
    await report({ car: 800_000, walk: 5 })
    expect(await report({ car: 800_001 }).catch(String)).toContain('5,000 km')
  })

  test('of surveys: given, given again, erased', async () => {
    await harness.db.sql`TRUNCATE survey_questions, survey_counts, surveys`
    const random = createRandom(8)
    const answers = (): Answers => ({
      q1: Math.floor(random() * 3),
      q2: random() < 0.5,
      q3: ['a', 'b', 'b'].slice(Math.floor(random() * 3)),
      ...(random() < 0.5 ? { q4_why: random() < 0.5 ? '' : 'x'.repeat(101) } : {}),
    })
    const write = (userId: string, after: Answers | null) =>
      harness.db.transaction(async (tx) => {
        await upsertPilgrim(tx, userId, {}, harness.nowMs)
        const [held] = await tx.orm.execute<{ answers: string }>(
          sql`DELETE FROM surveys WHERE user_id = ${userId} RETURNING answers::text AS answers`,
        )
        if (after !== null)
          await tx.orm.execute(sql`INSERT INTO surveys (user_id, answers, revision, submitted_at)
            VALUES (${userId}, ${JSON.stringify(after)}::text::jsonb, 1, now())`)
        await countSurvey(tx, held === undefined ? null : (JSON.parse(held.answers) as Answers), after)
      })
    await Promise.all(
      Array.from({ length: WRITES }, () =>
        write(`p${Math.floor(random() * PEOPLE)}`, random() < 0.2 ? null : answers()),
      ),
    )
    await write('asker', { q2_only_theirs: 'x' })
    await write('asker', null)
    const kept = await surveySums(harness)
    expect(kept.questions[0]).toMatchObject({ question: '' })
    expect(kept.counts.some(({ question, answer }) => question === 'q4_why' && answer === '')).toBe(true)
    await harness.db.transaction(recountSurveys)
    expect(await surveySums(harness)).toEqual(kept)
  })
})
