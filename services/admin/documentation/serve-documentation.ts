/** Serves the API's document, and the page that shows it. */
import {
  apiIndexEndpoint,
  docsEndpoint,
  docsScriptEndpoint,
  indexEndpoint,
  openApiEndpoint,
} from '#shared/contracts/documentation.ts'
import { time } from '#shared/contracts/fields.ts'
import { Prepared } from '#shared/service/http/prepared-response.ts'
import { type Router } from '#shared/service/http/router.ts'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'

const DAY_MS = 86_400_000
/** Clients may cache it, and revalidate each time. */
const REVALIDATED = 'public, no-cache'
/** A URL with the version of the script changes with its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * The document, generated once per day and name: its examples are dated the day before, so that they can be
 * tried.
 */
function createDocument({ config, event, now }: ServiceContext): () => Prepared {
  let made: { readonly key: string; readonly answer: Prepared } | undefined
  return () => {
    const day = time(now() - DAY_MS).slice(0, 10)
    const { name } = event.current
    const key = `${day} ${name}`
    if (made?.key !== key) {
      const document = openApiDocument(name, { bodyBytes: config.bodyBytes, day })
      made = { key, answer: new Prepared(JSON.stringify(document)) }
    }
    return made.answer
  }
}

export function serveDocumentation({ serve }: Router, context: ServiceContext): void {
  const { config, event } = context
  const { publicUrl } = config
  for (const endpoint of [indexEndpoint, apiIndexEndpoint])
    serve(endpoint, () => ({
      name: event.current.name,
      docs: publicUrl + docsEndpoint.path,
      openapi: publicUrl + openApiEndpoint.path,
    }))
  const document = createDocument(context)
  serve(openApiEndpoint, ({ request }) => document().respond(request, REVALIDATED))
  // The package is read at the first request.
  let made: { readonly name: string; readonly page: DocsPage } | undefined
  const docs = (): DocsPage => {
    const { name } = event.current
    if (made?.name !== name) made = { name, page: createDocsPage(name) }
    return made.page
  }
  serve(docsEndpoint, ({ request }) => {
    const answer = docs().page.respond(request, REVALIDATED)
    answer.headers.set('Content-Security-Policy', DOCS_POLICY)
    return answer
  })
  serve(docsScriptEndpoint, ({ request, query }) =>
    docs().script.respond(request, query.v === docs().version ? IMMUTABLE : REVALIDATED),
  )
}

// The page that documents the API: RapiDoc, served by this service, with a policy that allows no other source.

const RAPIDOC = createRequire(import.meta.url).resolve('rapidoc/dist/rapidoc-min.js')

const STYLE = `body{margin:0;font-family:system-ui,sans-serif;background:#fffdf9}
@media(prefers-color-scheme:dark){body{background:#1b1411}}
p{margin:2rem;color:#3b2a20}`

/**
 * Style elements that RapiDoc creates, light and dark. They change with its version and with the colours of browser.js.
 */
const RAPIDOC_STYLES = [
  'NUZvj9IO4MIA9zR8LnkqZ6GjOAzKvqDlOd+Hak4zUaM=',
  'N0OggqDVUnQdHW5605agei8wiYGHAahiq4xGNytuBJI=',
]

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')
const styles = [hashOf(STYLE), ...RAPIDOC_STYLES].map((hash) => `'sha256-${hash}'`).join(' ')

/** Scripts and requests only from this host. Pictures are those of responses tried out in the page. */
const DOCS_POLICY = `default-src 'none'; script-src 'self'; style-src ${styles}; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

interface DocsPage {
  readonly page: Prepared
  readonly script: Prepared
  readonly version: string
}

function createDocsPage(name: string): DocsPage {
  const source = `${readFileSync(join(import.meta.dir, 'browser.js'), 'utf8')};${readFileSync(RAPIDOC, 'utf8')}`
  const version = Bun.hash(source).toString(36)
  return {
    page: new Prepared(pageOf(name, version), 'text/html; charset=utf-8'),
    script: new Prepared(source, 'text/javascript; charset=utf-8'),
    version,
  }
}

const pageOf = (name: string, version: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(name)}: API</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
<script type="module" src="/api/event/docs/rapidoc.js?v=${version}"></script>
</head>
<body>
<noscript><p>This page needs JavaScript. The same content is in <a href="/api/event/openapi.json">openapi.json</a>.</p></noscript>
<rapi-doc spec-url="/api/event/openapi.json" render-style="focused" load-fonts="false" show-header="false"
 regular-font="system-ui, sans-serif" mono-font="ui-monospace, monospace" font-size="large" schema-style="table"
 schema-description-expanded="true" allow-server-selection="false" allow-spec-file-load="false"
 allow-spec-file-download="false" persist-auth="false" show-method-in-nav-bar="as-colored-text"
 use-path-in-nav-bar="false" show-curl-before-try="true" fetch-credentials="omit" sort-endpoints-by="none" response-area-height="24rem"></rapi-doc>
</body>
</html>
`
