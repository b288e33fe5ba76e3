/** Survey responses: a page of them with counts per question, or all of them as CSV. */
import { z } from 'zod'
import type { ServiceContext } from '#shared/context.ts'
import { type PageQuery, time } from '#shared/contracts/fields.ts'
import type { Surveys } from '#shared/contracts/reports.ts'
import type { Answer, Answers } from '#shared/contracts/survey.ts'
import { streamed } from './streamed.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/paging.ts'

interface Row {
  user_id: string
  display_name: string | null
  answers: string
  revision: number
  submitted_ms: number
}

const LIST = 'surveys'
/** Rows of a CSV are read this many at a time. */
const CSV_PAGE = 1_000

const readRows = ({ db }: ServiceContext, after: string, limit: number) =>
  db.read(
    () => db.sql<Row[]>`
      SELECT s.user_id, p.display_name, s.answers::text AS answers, s.revision,
             (extract(epoch FROM s.submitted_at) * 1000)::float8 AS submitted_ms
      FROM surveys s LEFT JOIN pilgrims p ON p.user_id = s.user_id
      WHERE s.user_id > ${after} ORDER BY s.user_id LIMIT ${limit}`,
  )

const answersOf = (row: Row): Answers => JSON.parse(row.answers) as Answers

/** A page by user id, with how often each answer of each question was given by everybody. */
export async function listSurveys(context: ServiceContext, { limit, cursor }: PageQuery): Promise<Surveys> {
  const { db } = context
  const after = cursor === undefined ? '' : decodeCursor(LIST, cursor, z.tuple([z.string()]))[0]
  const rows = await readRows(context, after, limit + 1)
  const counted = await db.read(
    () => db.sql<{ question: string; answer: string; n: number }[]>`
      SELECT e.key AS question, a.answer, count(*)::int AS n
      FROM surveys s, jsonb_each(s.answers) e,
        LATERAL jsonb_array_elements_text(
          CASE jsonb_typeof(e.value) WHEN 'array' THEN e.value ELSE jsonb_build_array(e.value) END) a (answer)
      WHERE length(a.answer) <= 100 GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2 LIMIT 2000`,
  )
  const [all] = await db.read(() => db.sql<{ n: number }[]>`SELECT count(*)::int AS n FROM surveys`)
  const counts: Record<string, Record<string, number>> = {}
  for (const { question, answer, n } of counted) (counts[question] ??= {})[answer] = n
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
  return { ...page, counts, total: all!.n }
}

/** Quoted; what a spreadsheet would take for a formula is kept text by an apostrophe. */
export function csvCell(value: Answer | null | undefined): string {
  const text = Array.isArray(value) ? value.join('; ') : String(value ?? '')
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
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
