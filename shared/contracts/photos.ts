/** Photos that pilgrims send to the bot. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { UserId } from './fields.ts'

export const PhotoCount = z.object({ userId: UserId, photo_count: z.int() })
export type PhotoCount = z.infer<typeof PhotoCount>

export const photoCountEndpoint = endpoint({
  id: 'countPhotos',
  method: 'GET',
  path: '/api/event/photos/count',
  service: 'survey-profile',
  summary: 'Number of photos that a pilgrim has sent to the bot',
  caller: 'query',
  query: z.object({ user_id: UserId }),
  data: PhotoCount,
})
