/** Serves the API's document, and the page that shows it. */
import {
  apiIndexEndpoint,
  docsEndpoint,
  docsScriptEndpoint,
  indexEndpoint,
  openApiEndpoint,
} from '#shared/contracts/documentation.ts'
import { time } from '#shared/contracts/fields.ts'
import { Prepared } from '#shared/http/prepared-response.ts'
import { type Router, serve } from '#shared/http/router.ts'
import { openApiDocument } from '#shared/openapi/openapi-document.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { createDocsPage, DOCS_POLICY, type DocsPage } from './docs-page.ts'

const DAY_MS = 86_400_000
/** Clients keep it, and ask each time whether it has changed. */
const REVALIDATED = 'public, no-cache'
/** An address with the version of the script changes with its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** The document, generated once a day: its examples are of the day before, so that they can be tried. */
function createDocument({ config, now }: ServiceContext): () => Prepared {
  let made: { readonly day: string; readonly answer: Prepared } | undefined
  return () => {
    const day = time(now() - DAY_MS).slice(0, 10)
    if (made?.day !== day) {
      const { eventName, bodyBytes } = config
      const document = openApiDocument(eventName, { bodyBytes, day })
      made = { day, answer: new Prepared(JSON.stringify(document)) }
    }
    return made.answer
  }
}

export function serveDocumentation(router: Router, context: ServiceContext): void {
  const { eventName, publicUrl } = context.config
  for (const endpoint of [indexEndpoint, apiIndexEndpoint])
    serve(router, context, endpoint, () => ({
      name: eventName,
      docs: publicUrl + docsEndpoint.path,
      openapi: publicUrl + openApiEndpoint.path,
    }))
  const document = createDocument(context)
  serve(router, context, openApiEndpoint, ({ request }) => document().respond(request, REVALIDATED))
  // The package is read at the first request.
  let made: DocsPage | undefined
  const docs = () => (made ??= createDocsPage(context.config.eventName))
  serve(router, context, docsEndpoint, ({ request }) => {
    const answer = docs().page.respond(request, REVALIDATED)
    answer.headers.set('Content-Security-Policy', DOCS_POLICY)
    return answer
  })
  serve(router, context, docsScriptEndpoint, ({ request, query }) =>
    docs().script.respond(request, query.v === docs().version ? IMMUTABLE : REVALIDATED),
  )
}
