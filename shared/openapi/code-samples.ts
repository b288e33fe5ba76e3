/** Samples of each request: in curl, and in TypeScript. */
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import type { Example } from './examples.ts'

interface Sample {
  readonly lang: string
  readonly label: string
  readonly source: string
}

/** A text in single quotes, for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

function addressOf({ path }: Endpoint, url: string, { params = {}, query = {} }: Example): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? name))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return `${url}${filled}${search.size > 0 ? `?${search}` : ''}`
}

/** The media type of a sample's body; null without a body. */
function mediaOf({ bodyKind, sent }: Endpoint, { body, form }: Example): string | null {
  if (bodyKind === 'none') return null
  if (form !== undefined) return 'application/x-www-form-urlencoded'
  return body === undefined ? (Object.keys(sent)[0] ?? 'application/octet-stream') : 'application/json'
}

function headersOf(endpoint: Endpoint, example: Example): Record<string, string> {
  const { access } = endpoint
  const media = mediaOf(endpoint, example)
  return {
    ...(media === null ? {} : { 'Content-Type': media }),
    ...(access === 'public' || access === 'optional' ? {} : { 'X-Admin-Token': '<token>' }),
    ...example.headers,
  }
}

/** A body as it is sent, JSON or a form; null without one. */
const written = ({ body, form }: Example): string | null =>
  form !== undefined ? String(new URLSearchParams(form)) : body === undefined ? null : JSON.stringify(body)

/** Whether the sample sends bytes of a file. */
const sendsFile = ({ bodyKind }: Endpoint, example: Example): boolean =>
  bodyKind === 'raw' && written(example) === null

function curl(endpoint: Endpoint, url: string, example: Example): string {
  const { method } = endpoint
  const body = written(example)
  const lines = [
    `curl ${quoted(addressOf(endpoint, url, example))}`,
    ...(method === 'GET' || (method === 'POST' && body !== null) ? [] : [`-X ${method}`]),
    ...Object.entries(headersOf(endpoint, example)).map(
      ([name, value]) => `-H ${quoted(`${name}: ${value}`)}`,
    ),
    ...(body === null ? [] : [`-d ${quoted(body)}`]),
    ...(sendsFile(endpoint, example) ? ['--data-binary @picture.png'] : []),
  ]
  return lines.join(' \\\n  ')
}

const indented = (value: unknown): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')

/** The body as an expression, if there is one. */
function literal({ body, form }: Example): string[] {
  if (form !== undefined) return [`new URLSearchParams(${indented(form)})`]
  return body === undefined ? [] : [`JSON.stringify(${indented(body)})`]
}

function typescript(endpoint: Endpoint, url: string, example: Example): string {
  const { method, media } = endpoint
  const headers = headersOf(endpoint, example)
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(Object.keys(headers).length === 0 ? [] : [`  headers: ${indented(headers)},`]),
    ...literal(example).map((source) => `  body: ${source},`),
    ...(sendsFile(endpoint, example) ? ["  body: await Bun.file('picture.png').bytes(),"] : []),
  ]
  const given = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`
  const read =
    media === null
      ? 'const { ok, data, error, code } = await response.json()'
      : media === 'application/json'
        ? 'const answer = await response.json()'
        : 'const answer = await response.blob()'
  return `const response = await fetch('${addressOf(endpoint, url, example)}'${given})\n${read}\n`
}

/** @param url address of the API */
export function codeSamples(endpoint: Endpoint, url: string, example: Example = {}): Sample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curl(endpoint, url, example) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescript(endpoint, url, example) },
  ]
}
