/** Share cards: one picture per pilgrim. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { UserId, exampleText } from './fields.ts'

const endpoint = endpointsOf('feedback-media')

/** Size of a card in pixels: the one that social networks recommend for large previews. */
export const CARD_SIZE = { width: 1_200, height: 630 } as const

export const CardAnswer = z.object({
  url: exampleText('https://event.example/api/event/og/w-5hk3q7d2m9x0c4v8b1n6r2t7ye.png'),
  width: z.int(),
  height: z.int(),
  etag: exampleText('"1k2m3n4p"').describe(
    'The picture’s ETag as in its header, with the quotes; it changes only when the picture changes',
  ),
})
export type CardAnswer = z.infer<typeof CardAnswer>

export const drawCardEndpoint = endpoint('POST /api/event/og-image', {
  id: 'drawCard',
  summary: 'Draws a pilgrim’s share card, unless the stored one is current',
  access: 'optional',
  limit: 'user-write',
  caller: 'body',
  body: z.object({ user_id: UserId }),
  data: CardAnswer,
  errors: ['not-found'],
})

export const cardEndpoint = endpoint('GET /api/event/og/:file', {
  id: 'readCard',
  summary: 'The current share card, redrawn when its content has changed. The file is <userId>.png',
  params: z.object({ file: exampleText('w-5hk3q7d2m9x0c4v8b1n6r2t7ye.png') }),
  data: z.string(),
  media: 'image/png',
  errors: ['not-found'],
})
