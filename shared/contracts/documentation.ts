/** The documentation of the API. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'

export const openApiEndpoint = endpoint({
  id: 'readOpenApi',
  method: 'GET',
  path: '/api/event/openapi.json',
  service: 'admin',
  summary: 'This API as an OpenAPI 3.1 document',
  media: 'application/json',
  tagged: true,
  data: z.record(z.string(), z.unknown()),
})

export const docsEndpoint = endpoint({
  id: 'showDocs',
  method: 'GET',
  path: '/api/event/docs',
  service: 'admin',
  summary: 'This API as a page: search, examples, and a form to try each request on this server',
  media: 'text/html',
  tagged: true,
  data: z.string(),
})

export const docsScriptEndpoint = endpoint({
  id: 'readDocsScript',
  method: 'GET',
  path: '/api/event/docs/rapidoc.js',
  service: 'admin',
  summary: 'The script of the page. With its version as v, caches may keep it for ever',
  query: z.object({ v: z.string().optional().describe('Version of the script') }),
  media: 'text/javascript',
  tagged: true,
  data: z.string(),
})

/** What is at the address without a path. */
export const Index = z.object({
  name: z
    .string()
    .meta({ examples: ['白沙屯媽祖進香'] })
    .describe('Name of the event'),
  docs: z
    .string()
    .meta({ examples: ['https://event.example/api/event/docs'] })
    .describe('The page that documents this API'),
  openapi: z
    .string()
    .meta({ examples: ['https://event.example/api/event/openapi.json'] })
    .describe('The OpenAPI document'),
})
export type Index = z.infer<typeof Index>

const index = (id: string, path: string) =>
  endpoint({
    id,
    method: 'GET',
    path,
    service: 'admin',
    summary: 'Where this API is documented',
    data: Index,
  })

export const indexEndpoint = index('readIndex', '/api/event')
export const apiIndexEndpoint = index('readApiIndex', '/api')
