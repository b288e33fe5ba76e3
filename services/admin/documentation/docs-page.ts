/** The API's documentation as one HTML page without scripts. */
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { openApiDocument } from '#shared/openapi/openapi-document.ts'

const STYLE = `
  body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
  h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem;border-bottom:1px solid #ddd}
  details{border:1px solid #ddd;border-radius:.4rem;margin:.4rem 0;padding:.4rem .8rem}
  summary{cursor:pointer}code,pre{font:13px/1.4 ui-monospace,monospace}
  pre{overflow:auto;background:#f6f6f6;padding:.8rem;border-radius:.4rem}
  .method{display:inline-block;min-width:3.8rem;font-weight:700}.tier{color:#666}
  @media(prefers-color-scheme:dark){body{background:#161616;color:#ddd}pre{background:#222}details,h2{border-color:#444}}`

/** @param name of the event @param url address of the API */
export function docsPage(name: string, url: string): string {
  const paths = openApiDocument(name, url).paths as Record<string, Record<string, unknown>>
  const services = Map.groupBy(ENDPOINTS, ({ service }) => service)
  const sections = [...services].map(
    ([service, endpoints]) =>
      `<h2>${escapeMarkup(service)}</h2>${endpoints
        .map(({ method, path, summary, access }) => {
          const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
          return `<details><summary><span class="method">${method}</span> <code>${escapeMarkup(path)}</code> <span class="tier">${access}</span><br>${escapeMarkup(summary)}</summary><pre>${escapeMarkup(JSON.stringify(operation, null, 2))}</pre></details>`
        })
        .join('')}`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeMarkup(name)}: API</title><style>${STYLE}</style>
<h1>${escapeMarkup(name)}: API</h1><p>Answers are <code>{"ok": true, "data": …}</code>, refusals <code>{"error": "…", "code": "…"}</code>.
Machine-readable: <a href="/api/event/openapi.json">openapi.json</a></p>${sections.join('')}</html>`
}
