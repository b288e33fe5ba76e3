/** A log entry is always one line and contains no personal data. */
import { expect, test } from 'bun:test'
import { createLog, errorFields, describeError, LoggableError } from '#shared/runtime/log.ts'
import { readFileSync } from 'node:fs'
import { HTTPFetchError } from '@line/bot-sdk'
import { DrizzleQueryError } from 'drizzle-orm'
import { z } from 'zod'
import { KvUnavailable } from '#shared/stores/kv/kv.ts'

const FORGED = '\n{"level":"error","message":"forged"}\r\u2028\u2029\u0085'
const TERMINAL = '\u001b[2J\u009b31m\u202e\u2066\ufeff\u007f\u0000'

test('client input neither breaks a line nor controls a terminal', () => {
  const lines: string[] = []
  const log = createLog({}, (line) => lines.push(line)).with({ service: FORGED })
  const error = new LoggableError(FORGED + TERMINAL)
  log.warn(TERMINAL, { user: FORGED, [TERMINAL]: 1, ...errorFields(error) })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/^[\u0020-\u007e]+$/)
  expect(JSON.parse(lines[0]!)).toMatchObject({
    message: TERMINAL,
    service: FORGED,
    user: FORGED,
    [TERMINAL]: 1,
  })
})

/** Must not appear in a log: a phone number, a name, an answer. */
const SECRET = 'Lin-Mei-0912345678'
const PLAIN_FRAME = `${SECRET}\n    at ${SECRET} (/app/${SECRET}.ts:1:2)\n`

const thrown = (make: () => unknown): unknown => {
  try {
    return make()
  } catch (error) {
    return error
  }
}
const postgresError = (code: string, message: string) =>
  Object.assign(new Error(message), {
    name: 'PostgresError',
    code,
    detail: `Failing row contains (${SECRET})`,
    where: `COPY gps_points, column lat: "${SECRET}"`,
    query: `SELECT '${SECRET}'`,
    parameters: [SECRET],
  })
const inAQuery = (cause: Error) => new DrizzleQueryError('insert into pilgrims values ($1)', [SECRET], cause)
const redisError = (message: string) =>
  Object.assign(new Error(message), {
    name: 'ReplyError',
    command: { name: 'evalsha', args: [SECRET] },
  })

/** Errors as their libraries create them, with the value where that library quotes it. */
const ERRORS: readonly (readonly [what: string, error: unknown, told: string])[] = [
  [
    'a refused row',
    inAQuery(postgresError('23514', 'violates check constraint "c"')),
    '23514: violates check constraint',
  ],
  [
    'a refused value',
    inAQuery(postgresError('22P02', `invalid input syntax: "${SECRET}"`)),
    'PostgresError 22P02',
  ],
  ['a raised exception', postgresError('P0001', SECRET), 'PostgresError P0001'],
  ['a query without a cause', new DrizzleQueryError('select $1', [SECRET]), 'DrizzleQueryError'],
  [
    'a reply of Redis',
    redisError(`ERR unknown command, with args beginning with: '${SECRET}'`),
    'ReplyError ERR',
  ],
  [
    'a translated one',
    new KvUnavailable('the kv is away', { cause: redisError(`OOM ${SECRET}`) }),
    'the kv is away ← ReplyError OOM',
  ],
  ['a file that is not there', thrown(() => readFileSync(`/none/${SECRET}.png`)), 'ENOENT'],
  ['text that is not JSON', thrown(() => JSON.parse(`{"a": ${SECRET}`)), 'SyntaxError: it is not JSON'],
  ['an address that is none', thrown(() => new URL(SECRET)), 'TypeError ERR_INVALID_URL'],
  ['a header that is none', thrown(() => new Headers({ a: `${SECRET}\n${SECRET}` })), 'TypeError'],
  ['a number that is none', thrown(() => BigInt(SECRET)), 'SyntaxError'],
  ['a fault of ours', thrown(() => (undefined as unknown as { a: string }).a), 'undefined is not an object'],
  ['a method that is none', thrown(() => ({ a: SECRET as unknown as () => void }).a()), 'TypeError'],
  [
    'a contract',
    thrown(() => z.strictObject({ a: z.enum(['x']) }).parse({ a: SECRET, [SECRET]: 1 })),
    'ZodError',
  ],
  [
    'an answer of LINE',
    new HTTPFetchError(SECRET, { status: 400, statusText: 'Bad', headers: new Headers(), body: SECRET }),
    'HTTPFetchError status 400',
  ],
  [
    'several',
    new AggregateError([new Error(SECRET), postgresError('53300', 'too many clients')], SECRET),
    '53300: too many clients',
  ],
  ['a chain', new Error(SECRET, { cause: new Error(SECRET, { cause: SECRET }) }), 'Error'],
  ['a circle', circle(), 'Error'],
  ['text', SECRET, 'a thrown string'],
  ['an object', { message: SECRET, toJSON: () => SECRET }, 'a thrown object'],
  ['frames in a message', new Error(PLAIN_FRAME), 'Error'],
  ['its own way to be written', Object.assign(new Error(SECRET), { toJSON: () => SECRET }), 'Error'],
  [
    'a name that tells',
    Object.assign(new Error(), { name: SECRET, code: `${SECRET} `, status: SECRET }),
    'Error',
  ],
]

function circle(): Error {
  const error = new Error(SECRET)
  error.cause = error
  return error
}

test.each(ERRORS)('of %s a line tells what it is, and no value', (_, error, told) => {
  const lines: string[] = []
  const log = createLog({}, (line) => lines.push(line))
  log.error('it failed', errorFields(error))
  // Logged as an Error, at any depth.
  if (error instanceof Error) log.error('it failed', { deep: [{ error }] })
  for (const line of lines) {
    expect(line).not.toContain(SECRET)
    expect(line).toContain(JSON.stringify(told).slice(1, -1))
  }
})

test('a stack is logged without the message that it begins with', () => {
  const { stack } = errorFields(new Error(PLAIN_FRAME)) as { stack: string }
  expect(stack.split('\n')[0]).toContain('log.test.ts')
})

test('a message of our own code is logged in full, with its causes', () => {
  const cause = Object.assign(new Error(`connect ${SECRET}`), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
    address: '127.0.0.1',
    port: 5432,
  })
  expect(describeError(new LoggableError('the database is away', { cause }))).toBe(
    'the database is away ← Error ECONNREFUSED syscall connect address 127.0.0.1 port 5432',
  )
})
