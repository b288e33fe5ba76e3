/** The survey, questions Q1 to Q10. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { isStorableText, Key, MAX_POINTS, text, Time, UserId } from './fields.ts'
import { Phone } from './profile.ts'
import { TrackSyncAnswer } from './tracking.ts'

/** A key names its question: `q1`, `Q10`, `q3_reason`. */
const QUESTION = /^q(10|[1-9])(_|$)/i

/** The questions of the form, in its order. */
export const QUESTIONS: readonly string[] = Array.from({ length: 10 }, (_, i) => `q${i + 1}`)

/** Answers that one survey may hold, those under names with a suffix included. */
export const MAX_ANSWERS = 100

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

/** Answers as they were stored, by whatever rules held then. */
export const StoredAnswers = z.record(z.string(), Answer)

/** What clients send: answers in `survey`, in `answers` or beside them, and what else a client knows of the person. */
const Submitted = z.looseObject({
  user_id: UserId,
  survey: z.record(Question, Answer.nullable()).nullish().describe('null: an unanswered question'),
  answers: z.record(Question, Answer.nullable()).nullish().describe('Merged with survey'),
  gps_points: z.array(z.unknown()).max(MAX_POINTS).nullish().describe('Taken as a track'),
  phone: z.unknown().optional().describe('As in user/phone; one that is not valid costs no survey'),
  phone_number: z.unknown().optional().describe('Another name of phone'),
  profile: z.unknown().optional().describe('{role}: taken as q7 where there is no q7'),
  line_display_name: z.unknown().optional().describe('Taken as the display name'),
})
type Submitted = z.infer<typeof Submitted>

const NAMED: ReadonlySet<string> = new Set([...Object.keys(Submitted.shape), 'userId', 'line_user_id'])

const MAX_NAMED = 100
const MAX_DISPLAY_NAME = 200

/** What a submission comes to: the answers as one, and by name what of it is not taken. */
function foldSubmission(given: Submitted) {
  const survey: Record<string, unknown> = {}
  const ignored: string[] = []
  const take = (where: string, key: string, answer: unknown): void => {
    const question = key.replace(/^Q/, 'q')
    if (answer === null || answer === undefined) return
    if (!Object.hasOwn(survey, question)) survey[question] = answer
    else if (JSON.stringify(survey[question]) !== JSON.stringify(answer)) ignored.push(`${where}${key}`)
  }
  for (const part of ['survey', 'answers'] as const)
    for (const [key, answer] of Object.entries(given[part] ?? {})) take(`${part}.`, key, answer)
  for (const [key, value] of Object.entries(given))
    if (QUESTION.test(key)) take('', key, value)
    else if (!NAMED.has(key)) ignored.push(key)
  takeRole(given.profile, take, ignored)
  const phone = Phone.safeParse(given.phone ?? given.phone_number ?? null)
  return {
    user_id: given.user_id,
    survey,
    gps_points: given.gps_points,
    phone: phone.success ? phone.data : null,
    phone_taken: !phone.success ? 'invalid' : phone.data === null ? 'absent' : 'stored',
    display_name: displayNameOf(given.line_display_name, ignored),
    ignored: ignored.slice(0, MAX_NAMED).map((name) => name.slice(0, MAX_NAMED).toWellFormed()),
  }
}

/** Existing clients send the answer to q7 as the role of a profile. */
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

/** Null where there is none; one that is no name costs no survey. */
function displayNameOf(given: unknown, ignored: string[]): string | null {
  if (given === undefined || given === null) return null
  const name = typeof given === 'string' ? given.trim() : null
  if (name !== null && name.length <= MAX_DISPLAY_NAME && isStorableText(name)) return name || null
  ignored.push('line_display_name')
  return null
}

const PhoneTaken = z.enum(['stored', 'invalid', 'absent'])

export const SubmitRequest = Submitted.transform((given): unknown => foldSubmission(given)).pipe(
  z.object({
    user_id: UserId,
    survey: Answers,
    gps_points: z.array(z.unknown()).nullish(),
    phone: z.string().nullable(),
    phone_taken: PhoneTaken,
    display_name: z.string().nullable(),
    ignored: z.array(z.string()),
  }),
)
export type SubmitRequest = z.infer<typeof SubmitRequest>

export const SubmitAnswer = z.object({
  userId: UserId,
  submitted_at: Time,
  answers: z.int().describe('How many were stored'),
  revision: z.int().describe('1 for the first submission'),
  track: z
    .union([TrackSyncAnswer, z.object({ refused: z.string() })])
    .nullable()
    .describe('What became of gps_points'),
  phone: PhoneTaken.describe('What became of phone; a survey takes no number away'),
  ignored: z
    .array(z.string())
    .describe('Names of what was sent and not taken: no question, or a second answer to one; the first 100'),
})
export type SubmitAnswer = z.infer<typeof SubmitAnswer>

const submit = (path: string) =>
  endpoint({
    method: 'POST',
    path,
    service: 'survey-profile',
    summary: 'Survey answers Q1 to Q10; a re-submission replaces, history is kept',
    limit: 'survey',
    caller: 'body',
    closedAtEnd: true,
    body: SubmitRequest,
    data: SubmitAnswer,
    errors: [403, 409, 503],
  })

export const submitEndpoint = submit('/api/event/submit')
/** The name that the operational notes use for the same route. */
export const surveyEndpoint = submit('/api/event/survey')
