/** The survey, questions Q1 to Q10. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { isStorableText, Key, MAX_POINTS, text, Time, UserId, withoutDirections } from './fields.ts'
import { TrackPoint } from './gps-points.ts'
import { Phone } from './profile.ts'
import { TrackSyncAnswer } from './tracking.ts'

const endpoint = endpointsOf('survey-profile')

/** A key starts with its question: `q1`, `Q10`, `q3_reason`. */
const QUESTION = /^q(10|[1-9])(_|$)/i

export const QUESTIONS: readonly string[] = Array.from({ length: 10 }, (_, i) => `q${i + 1}`)

/** Maximum number of answers in one survey, including those under names with a suffix. */
const MAX_ANSWERS = 100

export const Answer = z.union([z.number(), z.boolean(), text(10_000), z.array(text(500)).max(50)], {
  error: 'must be a string, a number, a boolean, or a list of at most 50 strings of at most 500 characters',
})
export type Answer = z.infer<typeof Answer>

const QUESTION_RULE = 'must name a question q1 to q10, such as "q1" or "q3_reason"'
const Question = Key.regex(QUESTION, { error: QUESTION_RULE })

export const Answers = z
  .record(Question, Answer)
  .refine((answers) => Object.keys(answers).length > 0, { error: 'must hold at least one answer' })
  .refine((answers) => Object.keys(answers).length <= MAX_ANSWERS, {
    error: `must hold at most ${MAX_ANSWERS} answers`,
  })
export type Answers = z.infer<typeof Answers>

/** Stored answers. They may predate the current rules. */
export const StoredAnswers = z.record(z.string(), Answer)

/** A request body: answers in `survey`, in `answers` or at the top level, and other data about the pilgrim. */
const Submitted = z.looseObject({
  user_id: UserId,
  survey: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Answers by question; null means unanswered. Names of no question are ignored'),
  answers: z.record(z.string(), z.unknown()).nullish().describe('Another name of survey; both are merged'),
  gps_points: z.array(z.unknown()).max(MAX_POINTS).nullish().describe('Track points, as in track/sync'),
  phone: z.unknown().optional().describe('As in user/phone; an invalid number does not fail the request'),
  phone_number: z.unknown().optional().describe('Another name of phone'),
  form_version: z
    .unknown()
    .optional()
    .describe('Version of GET survey-form that was answered; anything else counts as not known'),
  profile: z.unknown().optional().describe('{role}: the answer to q7 if q7 is absent'),
  line_display_name: z.unknown().optional(),
})
type Submitted = z.infer<typeof Submitted>

const FormVersion = z.int().min(0).max(2_147_483_647)

const NAMED: ReadonlySet<string> = new Set([...Object.keys(Submitted.shape), 'userId', 'line_user_id'])

/** Maximum number of ignored fields in an answer, and of characters of each. */
export const MAX_NAMED = 100
const MAX_DISPLAY_NAME = 200

/** Merges the answers of a submission and lists the names of ignored fields. */
function normalizeSubmission(given: Submitted, context: z.RefinementCtx<Submitted>) {
  const survey: Record<string, unknown> = {}
  const ignored: string[] = []
  const take = (where: string, key: string, answer: unknown): void => {
    const question = key.replace(/^Q/, 'q')
    if (answer === null || answer === undefined) return
    if (!Object.hasOwn(survey, question)) survey[question] = answer
    else if (JSON.stringify(survey[question]) !== JSON.stringify(answer)) ignored.push(`${where}${key}`)
  }
  for (const part of ['survey', 'answers'] as const)
    for (const [key, answer] of Object.entries(given[part] ?? {})) {
      if (QUESTION.test(key)) take(`${part}.`, key, answer)
      else ignored.push(`${part}.${key}`)
    }
  for (const [key, value] of Object.entries(given))
    if (QUESTION.test(key)) take('', key, value)
    else if (!NAMED.has(key)) ignored.push(key)
  takeRole(given.profile, take, ignored)
  if (Object.keys(survey).length === 0 && ignored.length > 0)
    context.addIssue({
      code: 'custom',
      path: ['survey'],
      message: `must hold at least one answer to q1 to q10; none of these names a question: ${ignored.slice(0, 3).join(', ').slice(0, MAX_NAMED).toWellFormed()}`,
    })
  const phone = Phone.safeParse(given.phone ?? given.phone_number ?? null)
  return {
    user_id: given.user_id,
    survey,
    gps_points: given.gps_points,
    phone: phone.success ? phone.data : null,
    phone_taken: !phone.success ? 'invalid' : phone.data === null ? 'absent' : 'stored',
    form_version: FormVersion.safeParse(given.form_version).data ?? null,
    display_name: displayNameOf(given.line_display_name, ignored),
    ignored: ignored.slice(0, MAX_NAMED).map((name) => name.slice(0, MAX_NAMED).toWellFormed()),
  }
}

/** Existing clients send the answer to q7 as `profile.role`. */
function takeRole(
  profile: unknown,
  take: (where: string, key: string, answer: unknown) => void,
  ignored: string[],
): void {
  if (profile === undefined || profile === null) return
  if (typeof profile !== 'object' || Array.isArray(profile)) {
    ignored.push('profile')
    return
  }
  for (const [key, value] of Object.entries(profile))
    if (key !== 'role' || !Answer.nullable().safeParse(value).success) ignored.push(`profile.${key}`)
    else if (value !== '') take('profile.role as ', 'q7', value)
}

/** Returns null if the name is absent or invalid. An invalid name does not fail the request. */
function displayNameOf(given: unknown, ignored: string[]): string | null {
  if (given === undefined || given === null) return null
  const name = typeof given === 'string' ? withoutDirections(given).trim() : null
  if (name !== null && name.length <= MAX_DISPLAY_NAME && isStorableText(name)) return name || null
  ignored.push('line_display_name')
  return null
}

const PhoneTaken = z.enum(['stored', 'invalid', 'absent'])

export const SubmitRequest = Submitted.transform((given, context): unknown =>
  normalizeSubmission(given, context),
).pipe(
  z.object({
    user_id: UserId,
    survey: Answers,
    gps_points: z.array(z.unknown()).nullish(),
    phone: z.string().nullable(),
    phone_taken: PhoneTaken,
    form_version: FormVersion.nullable(),
    display_name: z.string().nullable(),
    ignored: z.array(z.string()),
  }),
)
export type SubmitRequest = z.infer<typeof SubmitRequest>

/** A survey as clients should send it. `SubmitRequest` accepts more: other names of its fields, and invalid points. */
export const Survey = z.object({
  user_id: UserId,
  survey: Answers.meta({
    examples: [{ q1: 'yes', q2: 4, q3: ['walk', 'train'], q3_reason: '想走完全程' }],
  }).describe('Answers by question'),
  gps_points: z.array(TrackPoint).max(MAX_POINTS).nullish().describe('Track points, as in track/sync'),
  phone: z.string().nullish().describe('As in user/phone; an invalid number does not fail the request'),
  form_version: FormVersion.nullish().describe('Version of GET survey-form that was answered'),
  line_display_name: z.string().nullish(),
})

export const SubmitAnswer = z.object({
  userId: UserId,
  submitted_at: Time,
  answers: z.int(),
  revision: z.int().describe('1 for the first submission'),
  track: z
    .union([TrackSyncAnswer, z.object({ refused: z.string() })])
    .nullable()
    .describe('Result of gps_points; null if none were sent'),
  phone: PhoneTaken.describe('Result of phone; a survey never deletes a stored number'),
  ignored: z
    .array(z.string())
    .meta({ examples: [[]] })
    .describe(
      'Unknown names, second answers to a question, and new names once an event has 1,000; the first 100',
    ),
})
export type SubmitAnswer = z.infer<typeof SubmitAnswer>

const submit = (id: string, path: `/${string}`) =>
  endpoint(`POST ${path}`, {
    id,
    summary:
      'Stores survey answers Q1 to Q10; a new submission replaces the previous one, which stays in the history',
    limit: 'survey',
    caller: 'body',
    closedAtEnd: true,
    body: SubmitRequest,
    sent: { 'application/json': Survey },
    data: SubmitAnswer,
    errors: ['erased'],
  })

export const submitEndpoint = submit('submitSurvey', '/api/event/submit')
/** An alias of the same route, which the operational notes use. */
export const surveyEndpoint = submit('submitSurveyAlias', '/api/event/survey')
