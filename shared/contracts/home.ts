/** The page that links lead to where the event has no page of its own. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const homeEndpoint = endpoint({
  method: 'GET',
  path: '/',
  service: 'admin',
  summary: 'The event as a page for people: its name, its status and the message of its operators',
  // Apps and other sites add parameters to links: none of them is a fault.
  query: z.object({
    lang: z
      .string()
      .optional()
      .describe('zh-Hant, zh-Hans, en or ja; Accept-Language where it is none of them'),
  }),
  media: 'text/html',
  data: z.string(),
})
