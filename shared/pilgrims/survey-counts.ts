/** How often each answer of each question was given: kept with each survey, in its transaction. */
import { type SQL, sql } from 'drizzle-orm'
import type { Query } from '#shared/db/db.ts'
import type { Answers } from '#shared/contracts/survey.ts'
import type { Writer } from '#shared/bus/outbox.ts'

/** Longer answers are remarks, and not counted. */
const LONGEST_COUNTED = 100

/** A list counts with each of its parts; numbers and booleans as JSON writes them. */
const PARTS = `
  SELECT e.key AS question, a.answer, s.n FROM s, jsonb_each(s.answers) e, LATERAL jsonb_array_elements_text(
    CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value ELSE jsonb_build_array(e.value) END) a (answer)
  WHERE length(a.answer) <= ${LONGEST_COUNTED}`

/**
 * Books a survey that takes the place of another one. The caller holds the pilgrim's row.
 * @param before null: there was none @param after null: it is erased
 */
export async function countSurvey(tx: Writer, before: Answers | null, after: Answers | null): Promise<void> {
  const rows = [
    ...(before === null ? [] : [{ n: -1, answers: before }]),
    ...(after === null ? [] : [{ n: 1, answers: after }]),
  ]
  const s = sql`s AS (SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) r (n int, answers jsonb))`
  // The row of all surveys is every writer's first, so that they take turns and can not deadlock.
  await tx.execute(sql`
    WITH ${s}, questions AS (SELECT '' AS question, n FROM s UNION ALL SELECT k, n FROM s, jsonb_object_keys(answers) k)
    INSERT INTO survey_questions AS q (question, responses)
    SELECT question, sum(n) FROM questions GROUP BY question ORDER BY question
    ON CONFLICT (question) DO UPDATE SET responses = q.responses + excluded.responses`)
  await tx.execute(sql`
    WITH ${s}, parts AS (${sql.raw(PARTS)})
    INSERT INTO survey_counts AS c (question, answer, count)
    SELECT question, answer, sum(n) FROM parts GROUP BY question, answer HAVING sum(n) <> 0 ORDER BY question, answer
    ON CONFLICT (question, answer) DO UPDATE SET count = c.count + excluded.count`)
  if (before !== null) await forgetZeros(tx, s)
}

/** An answer that nobody gives any more is nobody's business. */
const forgetZeros = (tx: Writer, s: SQL) =>
  tx.execute(sql`
    WITH ${s}, parts AS (${sql.raw(PARTS)})
    DELETE FROM survey_counts c USING parts p
    WHERE c.question = p.question AND c.answer = p.answer AND c.count = 0`)

/** Counts all surveys anew. Inside a transaction of its own. */
export async function recountSurveys(tx: Query): Promise<void> {
  await tx`LOCK TABLE survey_questions, survey_counts IN EXCLUSIVE MODE`
  await tx`DELETE FROM survey_questions`
  await tx`DELETE FROM survey_counts`
  await tx`
    INSERT INTO survey_questions (question, responses)
    SELECT '', count(*) FROM surveys HAVING count(*) > 0
    UNION ALL SELECT k, count(*) FROM surveys, jsonb_object_keys(answers) k GROUP BY k`
  await tx.unsafe(`
    WITH s AS (SELECT answers, 1 AS n FROM surveys), parts AS (${PARTS})
    INSERT INTO survey_counts (question, answer, count)
    SELECT question, answer, count(*) FROM parts GROUP BY question, answer`)
}
