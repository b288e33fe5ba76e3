/** Survey responses: one page with counts per question, or all of them as CSV. */
import type { ServiceContext } from '#shared/service/context.ts'
import { type PageQuery, time, UserId } from '#shared/contracts/fields.ts'
import { SurveyPart } from '#shared/contracts/event-settings.ts'
import { readVersions } from '#shared/pilgrims/event-settings.ts'
import type { Surveys } from '#shared/contracts/reports.ts'
import { type Answer, type Answers, QUESTIONS } from '#shared/contracts/survey.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { Operator } from '#shared/service/security/admin-auth.ts'
import type { IdOrder } from '#shared/service/security/pseudonyms.ts'
import { rowsByPage, streamingBody } from './streaming-body.ts'
import { readPage } from '#shared/service/http/pagination.ts'
import { noFormula } from '#shared/core/rules/csv-formulas.ts'

interface Row {
  user_id: string
  display_name: string | null
  answers: string
  revision: number
  form_version: number | null
  submitted_ms: number
}

/** Maximum number of answers per question shown with their counts. Only free text has more. */
const MOST_ANSWERS = 100
/** Maximum number of suffixed question names shown. A form has a few; unknown clients may invent any number. */
const MOST_SUFFIXED = 50
const CSV_PAGE = 1_000

const readRows = ({ db }: ServiceContext, ids: IdOrder, after: string | undefined, limit: number) =>
  db.read(() =>
    db.sql.unsafe<Row[]>(
      `SELECT s.user_id, p.display_name, s.answers::text AS answers, s.revision, s.form_version,
              epoch_ms(s.submitted_at) AS submitted_ms
       FROM (
         SELECT * FROM surveys WHERE $1::text IS NULL OR ${ids.sql('user_id')} > $1
         ORDER BY ${ids.sql('user_id')} LIMIT $2::int
       ) s LEFT JOIN pilgrims p ON p.user_id = s.user_id
       ORDER BY ${ids.sql('s.user_id')}`,
      [after === undefined ? null : ids.of(after), limit],
    ),
  )

const countsOf = (answers: string): Record<string, number> =>
  Object.fromEntries(JSON.parse(answers) as [answer: string, count: number][])

const answersOf = (row: Row): Answers => JSON.parse(row.answers) as Answers

/** Questions of the form, and the most common names with a suffix. The empty name counts all surveys. */
const SHOWN = `
  SELECT question, responses FROM survey_questions WHERE question IN ('', ${QUESTIONS.map((q) => `'${q}'`).join()})
  UNION ALL (
    SELECT question, responses FROM survey_questions WHERE strpos(question, '_') > 0
    ORDER BY responses DESC NULLS LAST, question LIMIT ${MOST_SUFFIXED})`

/** Sorts questions as the form does: each question, then the names with its number and a suffix. */
const inOrderOfForm = <T extends { readonly question: string }>(rows: readonly T[]): T[] => {
  const numberOf = ({ question }: T): number => Number(/^q(\d+)/i.exec(question)?.[1] ?? 0)
  return rows.toSorted((a, b) => numberOf(a) - numberOf(b) || (a.question < b.question ? -1 : 1))
}

async function readCounts({ db }: ServiceContext) {
  const rows = await db.read(() =>
    db.sql.unsafe<{ question: string; responses: number; answers: string }[]>(`
      SELECT question, responses, (
        SELECT coalesce(json_agg(json_build_array(answer, count)), '[]') FROM (
          SELECT answer, count FROM survey_counts c WHERE c.question = q.question
          ORDER BY count DESC NULLS LAST, answer LIMIT ${MOST_ANSWERS}) a
      )::text AS answers
      FROM (${SHOWN}) q WHERE responses > 0`),
  )
  return inOrderOfForm(rows)
}

/** The questions of every version of the survey, the newest first. */
async function readQuestions({ config, db }: ServiceContext): Promise<Surveys['questions']> {
  const rows = await db.read(() => readVersions(db))
  const forms = [
    config.event.parts.survey,
    ...rows
      .filter(({ part }) => part === 'survey')
      .flatMap(({ value }) => SurveyPart.safeParse(value).data ?? []),
  ].reverse()
  const known = QUESTIONS.flatMap((name, i) => {
    const [newest, ...older] = forms.flatMap(({ questions }) => questions[i] ?? [])
    if (newest === undefined) return []
    const choices = [newest, ...older].flatMap((question) => question.choices)
    const first = choices.filter(
      ({ value }, at) => choices.findIndex((choice) => choice.value === value) === at,
    )
    return [[name, { ...newest, choices: first }] as const]
  })
  return Object.fromEntries(known)
}

/** A page in the order of user ids, with the counts of each question's answers over all surveys. */
export async function listSurveys(
  context: ServiceContext,
  query: PageQuery,
  operator: Operator | null,
): Promise<Surveys> {
  const ids = context.pseudonyms.orderFor(operator)
  const listed = readPage(
    'surveys',
    [UserId],
    query,
    (after, limit) => readRows(context, ids, after?.[0], limit),
    (row) => ({
      userId: row.user_id,
      display_name: row.display_name,
      answers: answersOf(row),
      revision: row.revision,
      form_version: row.form_version,
      submitted_at: time(row.submitted_ms),
    }),
    (row) => [row.user_id],
  )
  const [page, questions, asked] = await Promise.all([listed, readCounts(context), readQuestions(context)])
  const total = questions.find(({ question }) => question === '')?.responses ?? 0
  const shown = questions.filter(({ question }) => question !== '')
  return {
    ...page,
    questions: asked,
    total,
    responses: Object.fromEntries(shown.map(({ question, responses }) => [question, responses])),
    counts: Object.fromEntries(shown.map(({ question, answers }) => [question, countsOf(answers)])),
  }
}

/** A quoted cell. Text that a spreadsheet would read as a formula gets an apostrophe. */
export function csvCell(value: Answer | null | undefined): string {
  const safe = noFormula(Array.isArray(value) ? value.join('; ') : String(value ?? ''))
  return `"${safe.replaceAll('"', '""')}"`
}

/** Column for answers without their own column. */
const OTHERS = 'other_answers'

/** Columns of the CSV: the questions to show, and whether there are others. */
async function readColumns({ db }: ServiceContext): Promise<{ columns: string[]; others: boolean }> {
  const rows = await db.read(() =>
    db.sql.unsafe<{ question: string }[]>(
      `SELECT question FROM (${SHOWN}) q WHERE responses > 0 AND question <> ''`,
    ),
  )
  const columns = inOrderOfForm(rows).map(({ question }) => question)
  // Reading one more than the columns is enough to know.
  const more = await db.read(
    () => db.sql<{ question: string }[]>`
      SELECT question FROM survey_questions WHERE responses > 0 AND question <> '' LIMIT ${columns.length + 1}::int`,
  )
  return { columns, others: more.length > columns.length }
}

function othersOf(answers: Answers, columns: ReadonlySet<string>): string | null {
  const others = Object.entries(answers).filter(([question]) => !columns.has(question))
  return others.length === 0 ? null : JSON.stringify(Object.fromEntries(others))
}

/**
 * Streams all responses as CSV, in UTF-8 with a byte order mark, which spreadsheets need for Chinese. The download is
 * written to the audit log first; when that fails, the call fails.
 * @throws an error of the database
 */
export async function surveysCsv(context: ServiceContext, operator: Acting): Promise<Response> {
  const { db, now, pseudonyms } = context
  await audit(db, operator, 'export-surveys', { format: 'csv' }, now())
  const ids = pseudonyms.orderFor(operator)
  const lines = async function* () {
    const { columns, others } = await readColumns(context)
    const shown = new Set(columns)
    const head = [
      'userId',
      'display_name',
      'submitted_at',
      'revision',
      'form_version',
      ...columns,
      ...(others ? [OTHERS] : []),
    ]
    yield `\uFEFF${head.map(csvCell).join(',')}\r\n`
    const rows = rowsByPage<Row>(CSV_PAGE, (last) => readRows(context, ids, last?.user_id, CSV_PAGE))
    for await (const row of rows) {
      const answers = answersOf(row)
      const cells = [row.user_id, row.display_name, time(row.submitted_ms), row.revision, row.form_version]
      const given = columns.map((question) => answers[question])
      const line = [...cells, ...given, ...(others ? [othersOf(answers, shown)] : [])].map(csvCell).join(',')
      yield pseudonyms.hide(`${line}\r\n`, operator)
    }
  }
  return new Response(await streamingBody(context, lines()), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': 'attachment; filename="surveys.csv"',
    },
  })
}
