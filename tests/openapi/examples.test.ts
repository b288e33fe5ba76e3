/**
 * Every operation has an example of its request and of each JSON response. Each response matches its schema,
 * and each request, sent to a running service, gets the documented success.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { openApiDocument } from '#shared/service/openapi/openapi-document.ts'
import { deadLetters, emergencies, followers, shares, trackers } from '#shared/stores/schema/tables.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { newPushKeys } from '#tests/helpers/push-service.ts'
import { admin, type TestStack } from '#tests/helpers/test-stack.ts'

interface Media {
  readonly schema: object
  readonly examples?: Record<string, { readonly value: unknown }>
}
interface Operation {
  readonly operationId: string
  readonly security: readonly Record<string, unknown>[]
  readonly parameters: readonly {
    readonly $ref?: string
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly example?: unknown
  }[]
  readonly requestBody?: { readonly content: Record<string, Media> }
  readonly responses: Record<string, { readonly content?: Record<string, Media> }>
}
interface Document {
  readonly paths: Record<string, Record<string, Operation>>
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

const document = openApiDocument('x') as unknown as Document
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
ajv.addSchema(document, 'api')
const pointer = (...keys: string[]) =>
  `api#/${keys.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`

/** Validators by the text of their schema: most responses are errors of a few forms. */
const compiled = new Map<string, ValidateFunction>()

/** Faults of the examples of a body or response. */
function faultsOf({ schema, examples = {} }: Media, ...at: string[]): string[] {
  const values = Object.values(examples).map(({ value }) => value)
  const text = JSON.stringify(schema)
  const validate = compiled.get(text) ?? ajv.compile({ $ref: pointer(...at, 'schema') })
  compiled.set(text, validate)
  if (values.length === 0) return ['has no example']
  return values.flatMap((value) => (validate(value) ? [] : [ajv.errorsText(validate.errors)]))
}

test.each(operationsOf(document).map((one) => [one.operation.operationId, one] as const))(
  'the examples of %s are complete, and as their schemas say',
  (_id, { path, method, operation: { parameters, requestBody, responses } }) => {
    const missing = parameters.filter((one) => one.required && one.example === undefined)
    expect(missing.map(({ name }) => name)).toEqual([])
    const at = ['paths', path, method]
    const body = requestBody?.content['application/json']
    if (body !== undefined)
      expect(faultsOf(body, ...at, 'requestBody', 'content', 'application/json')).toEqual([])
    for (const [status, { content }] of Object.entries(responses)) {
      const media = content?.['application/json']
      if (media === undefined) continue
      const faults = faultsOf(media, ...at, 'responses', status, 'content', 'application/json')
      expect({ status, faults }).toEqual({ status, faults: [] })
    }
  },
)

let stack: TestStack

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'event-examples-'))
  await copyMigratedDatabase(dataDir)
  const db = await openDatabase({ url: '', dir: join(dataDir, 'db') })
  await migrateDatabase(db)
  // Two dead letters to read, requeue and drop: no request creates one.
  const at = Date.now() - 3_600_000
  const letter = (minutes: number) => ({
    userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye',
    field: `t${at + minutes}`,
    value: `[0,${at},24.1481,120.6731,1]`,
    reason: 'refused',
    createdAt: new Date(at),
  })
  await db.orm.insert(deadLetters).values([letter(0), letter(1)])
  // A tracker and a link for an operator to revoke, besides those that the pilgrim revokes.
  const theirs = { userId: 'w-5hk3q7d2m9x0c4v8b1n6r2t7ye', createdAt: new Date(at) }
  await db.orm
    .insert(trackers)
    .values({ ...theirs, id: '3b8f0a1c-4a8e-4c6b-9d59-7d0f3c520b2e', keyHash: 'a lost phone' })
  await db.orm.insert(shares).values({
    ...theirs,
    id: 'aLinkOfALostPhone0000000',
    madeBy: 'pilgrim',
    showName: false,
    expiresAt: new Date(at + 864e5),
  })
  // An emergency to confirm.
  await db.orm.insert(emergencies).values({
    userId: theirs.userId,
    id: '6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c',
    source: 'app',
    sentAt: new Date(at),
    firstPressAt: new Date(at),
    lastPressAt: new Date(at),
    presses: 1,
    raisedAt: new Date(at),
  })
  // A follower of the bot may be given a role.
  await db.orm
    .insert(followers)
    .values({ userId: 'U11111111111111111111111111111111', reachable: true, changedAt: new Date(at) })
  await db.close()
  stack = await openEmbeddedTestStack({ EVENT_DATA_DIR: dataDir, ...newPushKeys() })
})
afterAll(async () => stack?.close())

/** Operations that depend on others, or change what others need, come last. */
const LAST = [
  'readTranslatedWords',
  'revokeTracker',
  'revokeToken',
  'unsubscribeFromPush',
  'readScreenshot',
  'changeShare',
  'showShare',
  'revokeShare',
  'revokeTrackerOfUser',
  'revokeSharesOfUser',
  'setStatus',
  'eraseOwnData',
  'eraseUser',
  'endActivity',
]
/**
 * The first succeeds only in a rehearsal, and stops the service (`tests/admin/reset.long.test.ts`). The other changes the
 * same part as `setTranslation`, from the same version.
 */
const NOT_HERE = ['resetRehearsal', 'setEventLanguages']
const INGESTS = operationsOf(document)
  .map(({ operation }) => operation.operationId)
  .filter((id) => id.startsWith('ingest') || id === 'loadGpsloggerProfile')
/** Values known only from a response: operation and parameter → operation and field of the response. */
const TOLD: Readonly<Record<string, readonly [id: string, field: string]>> = {
  'readPush.id': ['sendPush', 'id'],
  'changeShare.id': ['createShare', 'id'],
  'revokeShare.id': ['createShare', 'id'],
  'showShare.file': ['createShare', 'id'],
  'readScreenshot.file': ['uploadScreenshot', 'filename'],
  'revokeTracker.id': ['createTracker', 'id'],
  'revokeToken.fingerprint': ['makeToken', 'fingerprint'],
  'unsubscribeFromPush.id': ['subscribeToPush', 'id'],
  ...Object.fromEntries(INGESTS.map((id) => [`${id}.key`, ['createTracker', 'key'] as const])),
}

test('every request, sent to a running service, gets its documented success', async () => {
  const served = (await (await stack.fetch('/api/event/openapi.json')).json()) as Document
  const operations = operationsOf(served)
    .filter(({ operation }) => !NOT_HERE.includes(operation.operationId))
    .sort((a, b) => LAST.indexOf(a.operation.operationId) - LAST.indexOf(b.operation.operationId))
  const answers = new Map<string, Record<string, unknown>>()
  const refused: string[] = []
  for (const { path, method, operation } of operations) {
    const { operationId: id, security, requestBody, responses } = operation
    const given = operation.parameters.filter(({ example }) => example !== undefined)
    const valueOf = (name: string, example: unknown): string => {
      const told = TOLD[`${id}.${name}`]
      return String(told === undefined ? example : answers.get(told[0])?.[told[1]])
    }
    const query = new URLSearchParams(
      given.filter((one) => one.in === 'query').map(({ name, example }) => [name, String(example)]),
    )
    const filled = given
      .filter((one) => one.in === 'path')
      .reduce((to, { name, example }) => to.replace(`{${name}}`, valueOf(name, example)), path)
    const form = requestBody?.content['application/x-www-form-urlencoded']?.examples?.example?.value as
      | Record<string, string>
      | undefined
    const json = requestBody?.content['application/json']?.examples?.example?.value
    const body = json === undefined ? form && new URLSearchParams(form) : JSON.stringify(json)
    const answer = await stack.fetch(`${filled}${query.size > 0 ? `?${query}` : ''}`, {
      method: method.toUpperCase(),
      headers: security.length === 1 ? admin('owner') : {},
      ...(body === undefined ? {} : { body }),
    })
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
    const text = isStream ? '' : await answer.text()
    if (isStream) await answer.body!.cancel()
    if (!answer.ok || responses[answer.status] === undefined) refused.push(`${id}: ${answer.status} ${text}`)
    else if (text.startsWith('{"ok":true'))
      answers.set(id, (JSON.parse(text) as { data: Record<string, unknown> }).data)
  }
  expect(refused).toEqual([])
})
