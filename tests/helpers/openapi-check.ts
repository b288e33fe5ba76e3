/** Checks every answer of the test run against the API's OpenAPI document. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'

interface Answer {
  readonly content?: Record<string, object>
  readonly headers?: Record<string, { readonly description?: string }>
}
interface Operation {
  readonly responses: Record<string, Answer>
}

/** The document. The first test file of a run generates it, which takes longer than most files' tests. */
function documentOfRun(): Record<string, unknown> {
  const directory = process.env.TEST_DIRECTORY
  if (directory === undefined) return openApiDocument('test')
  const path = join(directory, 'openapi.json')
  if (!existsSync(path)) {
    // Test files run in parallel: the file gets its name when it is complete.
    const made = `${path}.${crypto.randomUUID()}`
    writeFileSync(made, JSON.stringify(openApiDocument('test')))
    renameSync(made, path)
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
}

/** The paths of the document, and the compiler of its schemas. */
function readPaths() {
  const document = documentOfRun()
  const paths = Object.entries(document.paths as Record<string, Record<string, Operation>>)
    .map(([path, operations]) => ({
      path,
      operations,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    // When two paths match, the one without parameters wins.
    .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
  // Formats are checked by the contracts, the document by tests/openapi. References point into the whole document.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, allErrors: true })
  ajv.addSchema(document, 'api')
  return { paths, ajv }
}

let read: ReturnType<typeof readPaths> | undefined
/** Read for the first answer, because files without requests do not need it. */
const documented = () => (read ??= readPaths())
const compiled = new Map<string, ValidateFunction>()

const escaped = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

function validatorOf(ajv: Ajv2020, keys: readonly string[]): ValidateFunction {
  const pointer = `api#/${keys.map(escaped).join('/')}`
  let validate = compiled.get(pointer)
  if (validate === undefined) compiled.set(pointer, (validate = ajv.compile({ $ref: pointer })))
  return validate
}

/**
 * Checks an answer against the document and returns it. Unknown paths and methods are not checked.
 * @throws Error for a status, a media type or a body that the document does not declare
 */
export async function described(path: string, method: string, response: Response): Promise<Response> {
  const { paths, ajv } = documented()
  const { pathname } = new URL(path, 'https://event.test')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const found = paths.find(
    ({ pattern, operations }) => pattern.test(pathname) && operations[verb] !== undefined,
  )
  if (found === undefined) return response
  const name = `${method} ${found.path} answered ${response.status}`
  const answer = found.operations[verb]!.responses[response.status]
  if (answer === undefined)
    throw new Error(`${name}, which the OpenAPI document does not list: ${await response.text()}`)
  if (method === 'HEAD' || answer.content === undefined) return response
  const media = response.headers.get('content-type')?.split(';')[0] ?? 'nothing'
  if (answer.content[media] === undefined)
    throw new Error(`${name} as ${media}, which the OpenAPI document does not list`)
  const file = answer.headers?.['Content-Disposition']?.description?.includes(media) === true
  if (file !== (response.headers.get('content-disposition')?.startsWith('attachment; ') ?? false))
    throw new Error(`${name} as ${media}: the OpenAPI document differs on whether it is a download`)
  if (media !== 'application/json') return response
  const body: unknown = await response.clone().json()
  const validate = validatorOf(ajv, [
    'paths',
    found.path,
    verb,
    'responses',
    `${response.status}`,
    'content',
    media,
    'schema',
  ])
  if (!validate(body))
    throw new Error(
      `${name} with a body that is not as described: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
    )
  return response
}
