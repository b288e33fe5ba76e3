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
  summary: 'This API as a readable page',
  media: 'text/html',
  data: z.string(),
})
