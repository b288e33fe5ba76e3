/** A stand-in for an OTLP collector, which rejects what a real one rejects, and records the spans. */
import { z } from 'zod'

const Value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.union([z.int(), z.string().regex(/^-?\d+$/)]) }),
  z.strictObject({ doubleValue: z.number() }),
  z.strictObject({ boolValue: z.boolean() }),
])
const Attributes = z.array(z.strictObject({ key: z.string().min(1), value: Value }))
const id = (digits: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${digits}}$`))
const Nanos = z.string().regex(/^\d{19}$/)
const count = z.int().min(0).optional()

const Span = z.strictObject({
  traceId: id(32),
  spanId: id(16),
  parentSpanId: id(16).optional(),
  traceState: z.string().optional(),
  flags: z.int().optional(),
  name: z.string().min(1),
  kind: z.int().min(0).max(5),
  startTimeUnixNano: Nanos,
  endTimeUnixNano: Nanos,
  attributes: Attributes,
  droppedAttributesCount: count,
  events: z.array(
    z.strictObject({
      timeUnixNano: Nanos,
      name: z.string(),
      attributes: Attributes,
      droppedAttributesCount: count,
    }),
  ),
  droppedEventsCount: count,
  links: z.array(
    z.strictObject({
      traceId: id(32),
      spanId: id(16),
      attributes: Attributes,
      droppedAttributesCount: count,
      traceState: z.string().optional(),
      flags: z.int().optional(),
    }),
  ),
  droppedLinksCount: count,
  status: z.strictObject({ code: z.int().min(0).max(2), message: z.string().optional() }),
})

/** `ExportTraceServiceRequest` of OTLP 1, in its JSON form. */
const ExportRequest = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes: Attributes, droppedAttributesCount: count }),
        scopeSpans: z.array(
          z.strictObject({
            scope: z.strictObject({ name: z.string(), version: z.string().optional() }),
            spans: z.array(Span).min(1),
            schemaUrl: z.string().optional(),
          }),
        ),
        schemaUrl: z.string().optional(),
      }),
    )
    .min(1),
})

/** A span, with the name of its process. */
export type Received = z.infer<typeof Span> & { readonly service: string }

/** Starts the stand-in on a free port. */
export function startCollector() {
  const spans: Received[] = []
  const refused: string[] = []
  let text = ''
  const refuse = (status: number, why: string): Response => {
    refused.push(why)
    return new Response(why, { status })
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (new URL(request.url).pathname !== '/v1/traces') return refuse(404, request.url)
      if (request.method !== 'POST') return refuse(405, request.method)
      const type = request.headers.get('content-type') ?? ''
      if (type !== 'application/json') return refuse(415, type)
      const body = await request.text()
      text += body
      let parsed
      try {
        parsed = ExportRequest.safeParse(JSON.parse(body))
      } catch {
        return refuse(400, 'not JSON')
      }
      if (!parsed.success) return refuse(400, z.prettifyError(parsed.error))
      for (const { resource, scopeSpans } of parsed.data.resourceSpans) {
        const name = resource.attributes.find(({ key }) => key === 'service.name')?.value
        const service = name !== undefined && 'stringValue' in name ? name.stringValue : ''
        for (const { spans: more } of scopeSpans) spans.push(...more.map((one) => ({ ...one, service })))
      }
      return Response.json({ partialSuccess: {} })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    spans,
    /** Why requests were rejected. */
    refused,
    /** Everything that was received. */
    text: () => text,
    stop: () => server.stop(true),
  }
}
