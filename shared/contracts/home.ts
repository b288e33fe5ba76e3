/** The start page: the target of links for an event without its own website. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const homeEndpoint = endpoint({
  id: 'showHome',
  method: 'GET',
  path: '/',
  service: 'admin',
  summary: 'Start page of the event: its name, its status and the operators’ message',
  // Apps and other sites add query parameters to links, so unknown parameters are accepted.
  query: z.object({
    lang: z
      .string()
      .optional()
      .describe('zh-Hant, zh-Hans, en or ja; for any other value Accept-Language decides'),
  }),
  media: 'text/html',
  data: z.string(),
})
