/** Share links: a page with the pilgrim's card, and their position for as long as they choose. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { Time, UserId, exampleText } from './fields.ts'

const endpoint = endpointsOf('feedback-media')

export const MAX_SHARES = 20
const MAX_LIVE_HOURS = 240

/** 144 random bits: links cannot be guessed. */
export const SHARE_ID = /^[A-Za-z0-9_-]{24}$/
const ShareId = z
  .string()
  .regex(SHARE_ID, { error: 'must be the id of a link: 24 characters of A-Z a-z 0-9 _ -' })
  .meta({ examples: ['kT2vXq8ZrB0mWc5NfJ7eLp1d'] })

const LIVE_HOURS_RULE = `must be a number of hours above 0, at most ${MAX_LIVE_HOURS}`
const LiveHours = z
  .number({ error: LIVE_HOURS_RULE })
  .gt(0, { error: LIVE_HOURS_RULE })
  .max(MAX_LIVE_HOURS, { error: LIVE_HOURS_RULE })

export const Share = z.object({
  id: ShareId,
  url: exampleText('https://event.example/s/kT2vXq8ZrB0mWc5NfJ7eLp1d').describe(
    'Address of the page. It contains no user id',
  ),
  image_url: exampleText('https://event.example/s/kT2vXq8ZrB0mWc5NfJ7eLp1d.png').describe(
    'Address of the card, a PNG',
  ),
  live_until: Time.nullable().describe('Until then the page shows where the pilgrim is; null: it does not'),
  show_name: z.boolean().describe('Whether page and card show the display name'),
  created_at: Time,
  expires_at: Time.describe('From then on the link is gone (410)'),
  views: z
    .int()
    .describe(
      'Openings in a browser, without previews of chats and returns within ten minutes. Some seconds behind',
    ),
  last_viewed_at: Time.nullable().describe('When it was last opened, to the minute; null: never'),
})
export type Share = z.infer<typeof Share>

export const CreateShareRequest = z.object({
  user_id: UserId,
  id: ShareId.nullish().describe(
    'Made by the client from 18 random bytes, so that the same request makes one link; absent: the service makes it',
  ),
  live_hours: LiveHours.nullish().describe('Shows where the pilgrim is, from now on for so many hours'),
  show_name: z
    .boolean()
    .nullish()
    .transform((show) => show ?? false),
})
export type CreateShareRequest = z.infer<typeof CreateShareRequest>

export const ChangeShareRequest = z.object({
  user_id: UserId,
  live_hours: LiveHours.nullish().describe('From now on for so many hours; null: no longer'),
  show_name: z.boolean().nullish(),
})
export type ChangeShareRequest = z.infer<typeof ChangeShareRequest>

const Own = z.object({ user_id: UserId.describe('May be sent as the header X-Line-User-Id instead') })
const Named = z.object({ id: ShareId })

export const createShareEndpoint = endpoint('POST /api/event/shares', {
  id: 'createShare',
  summary: 'Makes a link that a pilgrim can pass on; withdrawal, a consent taken back and an erasure end it',
  limit: 'user-write',
  caller: 'body',
  body: CreateShareRequest,
  data: Share,
  errors: ['conflict', 'erased'],
})

export const listSharesEndpoint = endpoint('GET /api/event/shares', {
  id: 'listShares',
  summary: 'The links of a pilgrim that work, newest first',
  limit: 'user-write',
  caller: 'query',
  query: Own,
  data: z.object({ items: z.array(Share) }),
})

export const changeShareEndpoint = endpoint('PATCH /api/event/shares/:id', {
  id: 'changeShare',
  summary: 'Changes what a link shows',
  limit: 'user-write',
  caller: 'body',
  params: Named,
  body: ChangeShareRequest,
  data: Share,
  errors: ['not-found', 'conflict', 'erased'],
})

export const revokeShareEndpoint = endpoint('DELETE /api/event/shares/:id', {
  id: 'revokeShare',
  summary: 'Revokes a link at once; it cannot be restored',
  limit: 'user-write',
  caller: 'query',
  params: Named,
  query: Own,
  data: z.object({ id: ShareId, revoked: z.literal(true) }),
  errors: [404],
})

export const viewShareEndpoint = endpoint('POST /api/event/shares/:id/views', {
  id: 'viewShare',
  summary:
    'Counts that the page of a link was opened. It carries nothing of the reader; a link that is unknown or has ended counts nothing',
  success: 202,
  params: Named,
  data: z.object({
    counted: z.boolean().describe('false: more links are opened at this moment than are counted'),
  }),
  errors: [429],
})

export const sharePageEndpoint = endpoint('GET /s/:file', {
  id: 'showShare',
  summary:
    'The page of a link, for everybody who has it; with .png at the end its card. A link that is revoked, expired or unknown gets 410',
  params: z.object({ file: exampleText('kT2vXq8ZrB0mWc5NfJ7eLp1d') }),
  query: z.object({
    lang: z
      .string()
      .optional()
      .describe('zh-Hant, zh-Hans, en or ja; for any other value Accept-Language decides'),
  }),
  media: 'text/html',
  otherMedia: ['image/png'],
  tagged: true,
  data: z.string(),
  errors: [410],
  errorPages: [410, 429, 503],
})
