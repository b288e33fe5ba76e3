/** Feedback: reports, the public board, and screenshots. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import {
  HIDDEN_ID,
  HttpsUrl,
  page,
  PageQuery,
  text,
  Time,
  UserId,
  exampleText,
  wholeNumber,
} from './fields.ts'

const endpoint = endpointsOf('feedback-media')

export const FeedbackStatus = z.enum(['new', 'triaging', 'fixing', 'fixed', 'wontfix'])
export type FeedbackStatus = z.infer<typeof FeedbackStatus>

/** An id of a serial column; a number outside its range is an error. */
const FeedbackId = wholeNumber(0, 2_147_483_647, /^\d{1,10}$/, 'must be the whole number of a feedback item')

/** Optional text; null and blank mean absent. */
const optionalText = (max: number) =>
  text(max)
    .nullish()
    .transform((value) => value?.trim() || null)

export const FeedbackRequest = z.object({
  user_id: UserId.nullish().transform((id) => id ?? undefined),
  report_id: z
    .uuid()
    .nullish()
    .describe('A random id that the client gives this report. Sent again with it, a report is stored once'),
  category: text(100)
    .trim()
    .min(1)
    .meta({ examples: ['route'] }),
  description: text(2_000)
    .trim()
    .min(1)
    .meta({ examples: ['The water station after the bridge is closed.'] }),
  screenshot_url: optionalText(2_000)
    .pipe(HttpsUrl.nullable())
    .describe('URL from the answer of feedback-upload'),
  device_info: z
    .union([text(2_000), z.record(z.string(), z.unknown())], { error: 'must be text or an object' })
    .nullish()
    // JSON escapes the characters that a text column cannot hold.
    .transform((info) => (typeof info === 'object' && info !== null ? JSON.stringify(info) : info || null))
    .refine((info) => info === null || info.length <= 2_000, { error: 'must be at most 2,000 characters' })
    .describe(
      'Text, or an object that is stored as JSON; its `place`, `{lat, lng, accuracy, at}`, is where the report was written. Operators only',
    ),
  user_agent: optionalText(1_000),
  contact: optionalText(200),
})
export type FeedbackRequest = z.infer<typeof FeedbackRequest>

/** The public form of an item, without personal data. */
export const BoardItem = z.object({
  id: z.int(),
  category: exampleText('route'),
  description: exampleText('The water station after the bridge is closed.'),
  status: FeedbackStatus,
  created_at: Time,
  updated_at: Time,
  resolved_at: Time.nullable(),
})
export type BoardItem = z.infer<typeof BoardItem>

/** Number of items by status, for the requested category and search. */
export const BoardCounts = z.object({
  new: z.int(),
  triaging: z.int(),
  fixing: z.int(),
  fixed: z.int(),
  wontfix: z.int(),
} satisfies Record<FeedbackStatus, z.ZodType>)

export const FeedbackItem = BoardItem.extend({
  userId: UserId.nullable().describe(HIDDEN_ID),
  display_name: z.string().nullable(),
  screenshot_url: z.string().nullable(),
  device_info: z.string().nullable(),
  user_agent: z.string().nullable(),
  contact: z.string().nullable(),
  admin_note: z.string().nullable(),
  hidden_at: Time.nullable().describe('When it was taken off the public board; null: it is on it'),
  hidden_reason: z.string().nullable(),
  marks: z
    .array(z.enum(['phone', 'id']))
    .describe('What its words look like that the public board should not show'),
})
export type FeedbackItem = z.infer<typeof FeedbackItem>

export const FeedbackQuery = PageQuery.extend({
  status: FeedbackStatus.optional(),
  category: text(100).optional(),
  search: text(100)
    .trim()
    .min(1)
    .optional()
    .describe(
      'Reports with these words in their text, their category or the operators’ note. With a token only',
    ),
})
export type FeedbackQuery = z.infer<typeof FeedbackQuery>

export const FeedbackUpdate = z
  .object({
    status: FeedbackStatus.nullish().meta({ examples: ['fixed'] }),
    admin_note: text(2_000).nullish().describe('An empty note clears it'),
    hidden: z
      .boolean()
      .nullish()
      .describe('Takes the item off the public board, for a reason, or puts it back'),
    reason: text(500)
      .trim()
      .nullish()
      .transform((reason) => reason || null),
    seen: z
      .object({ status: FeedbackStatus, admin_note: text(2_000).nullable() })
      .partial()
      .optional()
      .describe('What the operator saw before. If somebody has changed it since, the answer is 409'),
  })
  .refine(({ status, admin_note, hidden }) => status != null || admin_note != null || hidden != null, {
    error: 'needs a status, an admin_note or hidden',
  })
  .refine(({ hidden, reason }) => hidden !== true || reason !== null, {
    path: ['reason'],
    error: 'is missing: say why the item is taken off the board',
  })
export type FeedbackUpdate = z.infer<typeof FeedbackUpdate>

/** A screenshot in JSON, for clients that cannot send bytes. */
export const ScreenshotUpload = z.object({
  image: exampleText(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  ).describe('Base64, or a data URL'),
})

export const Screenshot = z.object({
  filename: exampleText('3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png'),
  url: exampleText('https://event.example/api/event/feedback-image/3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png'),
})
export type Screenshot = z.infer<typeof Screenshot>

export const submitFeedbackEndpoint = endpoint('POST /api/event/feedback', {
  id: 'submitFeedback',
  summary: 'Submits feedback; a user id is optional',
  limit: 'user-write',
  caller: 'body',
  closedAtEnd: 'new',
  body: FeedbackRequest,
  data: z.object({ id: z.int(), status: FeedbackStatus }),
  errors: ['conflict', 'erased'],
})

export const listFeedbackEndpoint = endpoint('GET /api/event/feedback', {
  id: 'listFeedback',
  summary: 'Feedback, newest first: all fields with a token, the public board without one',
  access: 'optional',
  query: FeedbackQuery,
  data: z.union([page(FeedbackItem).extend({ counts: BoardCounts }), page(BoardItem)]),
})

export const feedbackStatusEndpoint = endpoint('GET /api/event/feedback/status', {
  id: 'readBoard',
  summary: 'The public board: reports and their status, newest first',
  query: FeedbackQuery,
  data: page(BoardItem).extend({ counts: BoardCounts }),
})

export const updateFeedbackEndpoint = endpoint('PATCH /api/event/feedback/:id', {
  id: 'updateFeedback',
  summary: 'Changes the status or note of an item; fixed sets resolved_at, any other status clears it',
  access: 'manager',
  params: z.object({ id: FeedbackId }),
  body: FeedbackUpdate,
  data: FeedbackItem,
  errors: ['not-found', 'conflict'],
})

export const uploadScreenshotEndpoint = endpoint('POST /api/event/feedback-upload', {
  id: 'uploadScreenshot',
  summary:
    'Uploads a screenshot (PNG, JPEG or WebP) as raw image, multipart/form-data (field file), or JSON {image: base64 or data URL}',
  limit: 'user-write',
  caller: 'header',
  closedAtEnd: true,
  bodyKind: 'raw',
  sent: {
    'image/png': null,
    'image/jpeg': null,
    'image/webp': null,
    'multipart/form-data': z.object({ file: z.string().describe('The picture') }),
    'application/json': ScreenshotUpload,
  },
  data: Screenshot,
})

export const screenshotEndpoint = endpoint('GET /api/event/feedback-image/:file', {
  id: 'readScreenshot',
  summary: 'An uploaded screenshot; the file is <name>.png',
  params: z.object({ file: exampleText('3f0c9a7be1d24c6f8a5b0e9d7c6a1f42.png') }),
  data: z.string(),
  media: 'image/png',
  errors: ['not-found'],
})
