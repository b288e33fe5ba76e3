/** The consent to the privacy notice. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { text, Time, UserId } from './fields.ts'

export const PrivacyRequest = z.object({
  user_id: UserId,
  agreed: z
    .boolean()
    .nullish()
    .meta({ examples: [true] })
    .transform((agreed) => agreed ?? true),
  version: text(100).nullish(),
})
export type PrivacyRequest = z.infer<typeof PrivacyRequest>

export const PrivacyAnswer = z.object({
  userId: UserId,
  privacy_agreed: z.boolean(),
  privacy_agreed_at: Time.nullable(),
  version: z.string().nullable(),
})
export type PrivacyAnswer = z.infer<typeof PrivacyAnswer>

export const privacyEndpoint = endpoint({
  id: 'setPrivacy',
  method: 'POST',
  path: '/api/event/privacy',
  service: 'survey-profile',
  summary: 'Records privacy consent or its withdrawal',
  limit: 'user-write',
  caller: 'body',
  body: PrivacyRequest,
  data: PrivacyAnswer,
  errors: ['erased'],
})
