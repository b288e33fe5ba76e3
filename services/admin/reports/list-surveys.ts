/** Survey responses: a page of them with counts per question, or all of them as CSV. */
import { z } from 'zod'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type PageQuery, time, UserId } from '#shared/contracts/fields.ts'
import type { Surveys } from '#shared/contracts/reports.ts'
import type { Answer, Answers } from '#shared/contracts/survey.ts'
import { streamed } from './streaming-body.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/http/pagination.ts'

interface Row {
  user_id: string
  display_name: string | null
  answers: string
  revision: number
  submitted_ms: number
}

const LIST = 'surveys'
/** Answers of one question that are shown with their counts: a choice has fewer, remarks have no end. */
const MOST_ANSWERS = 100
/** Rows of a CSV are read this many at a time. */
const CSV_PAGE = 1_000

const readRows = ({ db }: ServiceContext, after: string, limit: number) =>
  db.read(
    () => db.sql<Row[]>`
      SELECT s.user_id, p.display_name, s.answers::text AS answers, s.revision,
             (extract(epoch FROM s.submitted_at) * 1000)::float8 AS submitted_ms
      FROM surveys s LEFT JOIN pilgrims p ON p.user_id = s.user_id
      WHERE s.user_id > ${after} ORDER BY s.user_id LIMIT ${limit}::int`,
  )

const countsOf = (answers: string): Record<string, number> =>
  Object.fromEntries(JSON.parse(answers) as [answer: string, count: number][])

const answersOf = (row: Row): Answers => JSON.parse(row.answers) as Answers

/** Questions with their responses, and the commonest answers of each; under the empty name all surveys. */
function readCounts({ db }: ServiceContext) {
  return db.read(
    () => db.sql<{ question: string; responses: number; answers: string }[]>`
      SELECT question, responses, (
        SELECT coalesce(json_agg(json_build_array(answer, count)), '[]') FROM (
          SELECT answer, count FROM survey_counts c WHERE c.question = q.question
          ORDER BY count DESC NULLS LAST, answer LIMIT ${MOST_ANSWERS}::int) a
      )::text AS answers
      FROM survey_questions q WHERE responses > 0 ORDER BY question`,
  )
}

/** A page by user id, with how often each answer of each question was given by everybody. */
export async function listSurveys(context: ServiceContext, { limit, cursor }: PageQuery): Promise<Surveys> {
  const after = cursor === undefined ? '' : decodeCursor(LIST, cursor, z.tuple([UserId]))[0]
  const [rows, questions] = await Promise.all([readRows(context, after, limit + 1), readCounts(context)])
  const total = questions.find(({ question }) => question === '')?.responses ?? 0
  const asked = questions.filter(({ question }) => question !== '')
  const page = pageOf(
    rows,
    limit,
    (row) => ({
      userId: row.user_id,
      display_name: row.display_name,
      answers: answersOf(row),
      revision: row.revision,
      submitted_at: time(row.submitted_ms),
    }),
    (row) => encodeCursor(LIST, [row.user_id]),
  )
  return {
    ...page,
    total,
    responses: Object.fromEntries(asked.map(({ question, responses }) => [question, responses])),
    counts: Object.fromEntries(asked.map(({ question, answers }) => [question, countsOf(answers)])),
  }
}

/** Quoted; what a spreadsheet would take for a formula is kept text by an apostrophe. */
export function csvCell(value: Answer | null | undefined): string {
  const text = Array.isArray(value) ? value.join('; ') : String(value ?? '')
  const safe = /^(\s*[=+\-@＝＋－＠]|[\t\r\n])/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

/** All responses as CSV (UTF-8 with a byte order mark, which spreadsheets need for Chinese), as it is read. */
export function surveysCsv(context: ServiceContext): Response {
  const lines = async function* () {
    const [keys] = await context.db.sql<{ keys: string[] | null }[]>`
      SELECT array_agg(DISTINCT k ORDER BY k) AS keys FROM surveys s, jsonb_object_keys(s.answers) k`
    const questions = keys?.keys ?? []
    yield `\uFEFF${['userId', 'display_name', 'submitted_at', 'revision', ...questions].map(csvCell).join(',')}\r\n`
    for (let after = '', more = true; more;) {
      const rows = await readRows(context, after, CSV_PAGE)
      for (const row of rows) {
        const answers = answersOf(row)
        const head = [row.user_id, row.display_name, time(row.submitted_ms), row.revision]
        yield `${[...head, ...questions.map((question) => answers[question])].map(csvCell).join(',')}\r\n`
      }
      after = rows.at(-1)?.user_id ?? after
      more = rows.length === CSV_PAGE
    }
  }
  return new Response(streamed(lines()), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="surveys.csv"',
    },
  })
}
