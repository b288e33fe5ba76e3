/** The survey, questions Q1 to Q10. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { MAX_POINTS, text, Time, UserId } from './fields.ts'
import { Phone } from './profile.ts'
import { TrackSyncAnswer } from './tracking.ts'

/** A key names its question: `q1`, `Q10`, `q3_reason`. */
const QUESTION = /^q(10|[1-9])(_|$)/i

export const Answer = z.union([z.number(), z.boolean(), text(10_000), z.array(text(500)).max(50)], {
  error: 'must be a string, a number, a boolean, or a list of at most 50 strings of at most 500 characters',
})
export type Answer = z.infer<typeof Answer>

const QUESTION_RULE = 'must name a question q1 to q10, such as "q1" or "q3_reason"'

export const Answers = z
  .record(z.string().max(64).regex(QUESTION, { error: QUESTION_RULE }), Answer)
  .refine((answers) => Object.keys(answers).length > 0, { error: 'must hold at least one answer' })
export type Answers = z.infer<typeof Answers>

/** The three forms in which clients send answers, as one: `survey`, `answers`, or the top level. */
function foldAnswers(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const fields = given as Record<string, unknown>
  const nested = fields.survey ?? fields.answers
  const named = nested ?? Object.fromEntries(Object.entries(fields).filter(([key]) => QUESTION.test(key)))
  if (typeof named !== 'object' || named === null || Array.isArray(named)) return { ...fields, survey: named }
  // null means absent: an unanswered question.
  const survey = Object.fromEntries(Object.entries(named).filter(([, answer]) => answer !== null))
  return { ...fields, survey }
}

export const SubmitRequest = z.preprocess(
  foldAnswers,
  z.object({
    user_id: UserId,
    survey: Answers,
    gps_points: z.array(z.unknown()).max(MAX_POINTS).nullish().describe('Taken as a track'),
    // Not worth losing a survey for: one that is not valid is left out.
    phone: Phone.optional().catch(undefined),
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
    errors: [403, 503],
  })

export const submitEndpoint = submit('/api/event/submit')
/** The name that the operational notes use for the same route. */
export const surveyEndpoint = submit('/api/event/survey')
