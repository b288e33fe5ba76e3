/**
 * Traces, if `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector. Otherwise a span is a plain call, and no package is
 * loaded. Attributes are names of routes, subjects and statements, and counts, never personal data.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context, SpanContext } from '@opentelemetry/api'
import type { Config } from './config/config.ts'
import { within } from './deadline.ts'
import { errorFields, type Log } from './log.ts'

type Attributes = Readonly<Record<string, string | number>>
/** Adds attributes that are known only later. */
type Note = (attributes: Attributes) => void
/** The span that another one comes from; undefined: none. */
export type Origin = Context | undefined

interface Tracing {
  span<T>(name: string, attributes: Attributes, work: (note: Note) => T, origins: readonly Origin[]): T
  current(): Origin
  traceparent(): string | undefined
  originOf(traceparent: string): Origin
}

let tracing: Tracing | null = null
const noNote: Note = () => undefined
const SEND_MS = 5_000
const REPORT_MS = 60_000
const TRACEPARENT = /^00-([\da-f]{32})-([\da-f]{16})-0([01])$/

export const isTracing = (): boolean => tracing !== null

/**
 * Runs `work` as a span of the current one.
 * @param origins other spans that caused it: the first sampled one is its parent, the others are linked
 */
export function span<T>(
  name: string,
  attributes: Attributes,
  work: (note: Note) => T,
  origins?: () => readonly Origin[],
): T {
  return tracing === null ? work(noNote) : tracing.span(name, attributes, work, origins?.() ?? [])
}

/** The current span, for work that continues elsewhere. */
export const currentSpan = (): Origin => tracing?.current()

/** The current span for another process (W3C Trace Context); undefined: there is none. */
export const traceparent = (): string | undefined => tracing?.traceparent()

/** The span named by another process. */
export const originOf = (parent: string | undefined): Origin =>
  parent === undefined ? undefined : tracing?.originOf(parent)

/**
 * Starts tracing, if a collector is configured.
 * @param service the name of this process
 * @returns a function that sends the remaining spans, within a few seconds
 */
export async function startTraces(
  { endpoint, share }: Config['traces'],
  service: string,
  log: Log,
): Promise<() => Promise<void>> {
  if (endpoint === '') return async () => undefined
  const [{ ROOT_CONTEXT, SpanStatusCode, trace }, sdk, { resourceFromAttributes }, { OTLPTraceExporter }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ])
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const sender = new OTLPTraceExporter({ url, timeoutMillis: SEND_MS })
  let reportedMs = -Infinity
  const report = (error: Error & { readonly code?: unknown }): void => {
    if (performance.now() - reportedMs < REPORT_MS) return
    reportedMs = performance.now()
    const status = typeof error.code === 'number' ? { status: error.code } : errorFields(error)
    log.warn('the collector does not take traces', status)
  }
  const exporter: ConstructorParameters<typeof sdk.BatchSpanProcessor>[0]['exporter'] = {
    export: (spans, done) =>
      sender.export(spans, (result) => {
        if (result.error !== undefined) report(result.error)
        done(result)
      }),
    shutdown: () => sender.shutdown(),
  }
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(share) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('pilgrimage-event-tracking')
  const active = new AsyncLocalStorage<Context>()
  const sampledOf = (origin: Context): SpanContext | undefined => {
    const found = trace.getSpanContext(origin)
    return found !== undefined && (found.traceFlags & 1) === 1 ? found : undefined
  }
  tracing = {
    span(name, attributes, work, origins) {
      const known = origins.filter((origin) => origin !== undefined)
      const parent = known.find(sampledOf) ?? known[0] ?? active.getStore() ?? ROOT_CONTEXT
      const links = known.flatMap((origin) => {
        const context = origin === parent ? undefined : sampledOf(origin)
        return context === undefined ? [] : [{ context }]
      })
      const made = tracer.startSpan(name, { attributes, links }, parent)
      const fail = (error: unknown): never => {
        // The message may quote a value.
        made.setAttribute('error.type', error instanceof Error ? error.name : typeof error)
        made.setStatus({ code: SpanStatusCode.ERROR }).end()
        throw error
      }
      const end = <V>(value: V): V => {
        made.end()
        return value
      }
      const note: Note = (more) => void made.setAttributes(more)
      try {
        const result = active.run(trace.setSpan(parent, made), work, note)
        return result instanceof Promise ? (result.then(end, fail) as typeof result) : end(result)
      } catch (error) {
        return fail(error)
      }
    },
    current: () => active.getStore(),
    traceparent() {
      const found = trace.getSpanContext(active.getStore() ?? ROOT_CONTEXT)
      return found && `00-${found.traceId}-${found.spanId}-0${found.traceFlags & 1}`
    },
    originOf(parent) {
      const [, traceId, spanId, flags] = TRACEPARENT.exec(parent) ?? []
      if (traceId === undefined || spanId === undefined) return undefined
      return trace.setSpanContext(ROOT_CONTEXT, {
        traceId,
        spanId,
        traceFlags: Number(flags),
        isRemote: true,
      })
    },
  }
  return async () => {
    tracing = null
    await within(provider.shutdown(), SEND_MS, () => undefined).catch(() => undefined)
  }
}
