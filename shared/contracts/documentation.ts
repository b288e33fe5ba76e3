/** The documentation of the API. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { exampleText } from './fields.ts'

const endpoint = endpointsOf('admin')

export const openApiEndpoint = endpoint('GET /api/event/openapi.json', {
  id: 'readOpenApi',
  summary: 'This API as an OpenAPI 3.1 document',
  media: 'application/json',
  tagged: true,
  data: z.record(z.string(), z.unknown()),
})

export const docsEndpoint = endpoint('GET /api/event/docs', {
  id: 'showDocs',
  summary: 'This API as a page: search, examples, and a form to try each request on this server',
  media: 'text/html',
  tagged: true,
  data: z.string(),
})

export const docsScriptEndpoint = endpoint('GET /api/event/docs/rapidoc.js', {
  id: 'readDocsScript',
  summary: 'The script of the page. With its version as v, caches may keep it for ever',
  query: z.object({ v: z.string().optional() }),
  media: 'text/javascript',
  tagged: true,
  data: z.string(),
})

/** The answer at the root of the API. */
export const Index = z.object({
  name: exampleText('白沙屯媽祖進香'),
  docs: exampleText('https://event.example/api/event/docs'),
  openapi: exampleText('https://event.example/api/event/openapi.json'),
})
export type Index = z.infer<typeof Index>

const index = (id: string, path: `/${string}`) =>
  endpoint(`GET ${path}`, {
    id,
    summary: 'Where this API is documented',
    data: Index,
  })

export const indexEndpoint = index('readIndex', '/api/event')
export const apiIndexEndpoint = index('readApiIndex', '/api')
