/** Counts of each answer of each question, updated in the transaction of each survey. */
import type { Tx } from '#shared/stores/db/db.ts'
import { type Answers, QUESTIONS } from '#shared/contracts/survey.ts'

/** Longer answers are free text and are not counted. */
const LONGEST_COUNTED = 100

/** Each entry of a list is counted; numbers and booleans in their JSON form. */
const PARTS = `
  SELECT e.key AS question, a.answer, s.n FROM s, jsonb_each(s.answers) e, LATERAL jsonb_array_elements_text(
    CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value ELSE jsonb_build_array(e.value) END) a (answer)
  WHERE length(a.answer) <= ${LONGEST_COUNTED}`

/** Maximum number of suffixed names per event. A form has a few; unknown clients may invent any number. */
const MAX_NAMES = 1_000

/** @returns names of answers for which the event has no room: new ones, once the maximum is reached */
export async function namesWithoutRoom(tx: Tx, answers: Answers): Promise<ReadonlySet<string>> {
  const names = Object.keys(answers).filter((name) => !QUESTIONS.includes(name))
  if (names.length === 0) return new Set()
  const rows = await tx.sql<{ name: string }[]>`
    SELECT n.name FROM jsonb_array_elements_text(${JSON.stringify(names)}::text::jsonb) n (name)
    WHERE (SELECT count(*) FROM survey_questions) > ${MAX_NAMES}::int
      AND NOT EXISTS (SELECT FROM survey_questions q WHERE q.question = n.name)`
  return new Set(rows.map(({ name }) => name))
}

/**
 * Updates the counts when a survey replaces another one. The caller has locked the pilgrim's row.
 * @param before null: no previous survey @param after null: the survey is erased
 */
export async function countSurvey(tx: Tx, before: Answers | null, after: Answers | null): Promise<void> {
  const rows = [
    ...(before === null ? [] : [{ n: -1, answers: before }]),
    ...(after === null ? [] : [{ n: 1, answers: after }]),
  ]
  const s = tx.sql`s AS (SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) r (n int, answers jsonb))`
  // Every writer first updates the row of all surveys, which serializes writers and prevents deadlocks.
  await tx.sql`
    WITH ${s}, questions AS (SELECT '' AS question, n FROM s UNION ALL SELECT k, n FROM s, jsonb_object_keys(answers) k)
    INSERT INTO survey_questions AS q (question, responses)
    SELECT question, sum(n) FROM questions GROUP BY question ORDER BY question
    ON CONFLICT (question) DO UPDATE SET responses = q.responses + excluded.responses`
  await tx.sql`
    WITH ${s}, parts AS (${tx.sql.unsafe(PARTS)})
    INSERT INTO survey_counts AS c (question, answer, count)
    SELECT question, answer, sum(n) FROM parts GROUP BY question, answer HAVING sum(n) <> 0 ORDER BY question, answer
    ON CONFLICT (question, answer) DO UPDATE SET count = c.count + excluded.count`
  if (before === null) return
  // Rows that became zero, and names of questions that no other survey uses.
  await tx.sql`
    WITH ${s} DELETE FROM survey_questions q USING s, jsonb_object_keys(s.answers) k
    WHERE q.question = k AND q.responses = 0`
  await tx.sql`
    WITH ${s}, parts AS (${tx.sql.unsafe(PARTS)})
    DELETE FROM survey_counts c USING parts p
    WHERE c.question = p.question AND c.answer = p.answer AND c.count = 0`
}

/** Rebuilds the counts from all surveys. Needs its own transaction. */
export async function recountSurveys(tx: Pick<Tx, 'sql'>): Promise<void> {
  await tx.sql`LOCK TABLE survey_questions, survey_counts IN EXCLUSIVE MODE`
  await tx.sql`DELETE FROM survey_questions`
  await tx.sql`DELETE FROM survey_counts`
  await tx.sql`
    INSERT INTO survey_questions (question, responses)
    SELECT '', count(*) FROM surveys HAVING count(*) > 0
    UNION ALL SELECT k, count(*) FROM surveys, jsonb_object_keys(answers) k GROUP BY k`
  await tx.sql.unsafe(`
    WITH s AS (SELECT answers, 1 AS n FROM surveys), parts AS (${PARTS})
    INSERT INTO survey_counts (question, answer, count)
    SELECT question, answer, count(*) FROM parts GROUP BY question, answer`)
}
