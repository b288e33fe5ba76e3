/** Every sample of the API's document is run, and sends the example's request. */
import { expect, test } from 'bun:test'
import { runInNewContext } from 'node:vm'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import { ENDPOINTS } from '#shared/contracts/endpoints.ts'
import { codeSamples } from '#shared/openapi/code-samples.ts'
import { type Example, EXAMPLES } from '#shared/openapi/examples.ts'

const URL_OF_API = 'https://event.example'
const PICTURE = 'the bytes of picture.png'

interface Sent {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The request as curl's arguments say it. The shell parses them. */
function sentByCurl(source: string): Sent {
  const shell = Bun.spawnSync(['sh', '-euc', `curl() { printf '%s\\0' "$@"; }\n${source}`])
  expect([shell.exitCode, shell.stderr.toString()]).toEqual([0, ''])
  const [url, ...args] = shell.stdout.toString().split('\0').slice(0, -1)
  const of = (option: string) => args.flatMap((arg, i) => (args[i - 1] === option ? [arg] : []))
  const file = of('--data-binary').map((name) => (name === '@picture.png' ? PICTURE : name))
  const [body] = [...of('-d'), ...file]
  const headers = of('-H').map((header) => header.split(': ') as [string, string])
  return {
    method: of('-X')[0] ?? (body === undefined ? 'GET' : 'POST'),
    url: url!,
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: body ?? '',
  }
}

/** The request that the TypeScript sample sends, and how it reads a JSON answer. */
async function sentByTypeScript(source: string): Promise<Sent> {
  const requests: Request[] = []
  const answer = Response.json({ ok: true, data: null })
  await runInNewContext(`(async () => {${source}})()`, {
    fetch: (url: string, options?: RequestInit) => (requests.push(new Request(url, options)), answer),
    Bun: { file: () => ({ bytes: () => PICTURE }) },
    URLSearchParams,
  })
  expect([requests.length, answer.bodyUsed]).toEqual([1, true])
  const [{ method, url, headers }, body] = [requests[0]!, await requests[0]!.text()]
  const named = [...headers].map(([name, value]) => [name, value.split(';')[0]!])
  return { method, url, headers: Object.fromEntries(named) as Sent['headers'], body }
}

/** The form or the JSON value of a body. */
const valueOf = ({ headers, body }: Sent): unknown =>
  headers['content-type'] === 'application/json'
    ? JSON.parse(body)
    : headers['content-type'] === 'application/x-www-form-urlencoded'
      ? Object.fromEntries(new URLSearchParams(body))
      : body

function expected({ method, path, access }: Endpoint, { params = {}, query = {}, headers = {} }: Example) {
  const pathname = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? name))
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return {
    method,
    pathname,
    query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
    headers: Object.fromEntries(named) as Record<string, string>,
    hasToken: access !== 'public' && access !== 'optional',
  }
}

test.each(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))('%s', async (id, endpoint) => {
  const example = EXAMPLES[id] ?? {}
  const [shell, typescript] = codeSamples(endpoint, URL_OF_API, example)
  const wanted = expected(endpoint, example)
  const { media } = endpoint
  expect(typescript!.source.includes('response.blob()')).toBe(media !== null && media !== 'application/json')
  for (const sent of [sentByCurl(shell!.source), await sentByTypeScript(typescript!.source)]) {
    const url = new URL(sent.url)
    expect(url.origin).toBe(URL_OF_API)
    expect({ ...wanted, pathname: url.pathname, query: Object.fromEntries(url.searchParams) }).toEqual(wanted)
    expect(sent.method).toBe(wanted.method)
    expect(sent.headers).toMatchObject(wanted.headers)
    expect('x-admin-token' in sent.headers).toBe(wanted.hasToken)
    if (example.form !== undefined) expect(valueOf(sent)).toEqual(example.form)
    else if (example.body !== undefined) expect(valueOf(sent)).toEqual(example.body)
    else expect(sent.body).toBe(endpoint.bodyKind === 'raw' ? PICTURE : '')
  }
})

test('texts of an example can not leave their quotes', async () => {
  const endpoint = ENDPOINTS.find(({ id }) => id === 'submitSurvey')!
  const example = { body: { user_id: "it's $(id) `id` \\", q1: 'a"b\nc' } }
  const [shell, typescript] = codeSamples(endpoint, URL_OF_API, example)
  for (const sent of [sentByCurl(shell!.source), await sentByTypeScript(typescript!.source)])
    expect(valueOf(sent)).toEqual(example.body)
})
