/**
 * The whole service as its clients see it, over HTTPS. Two test stacks share this interface: `embedded` is one process
 * with embedded drivers; `real` is behind Caddy, on Postgres, Redis and NATS.
 */
import type { Environment } from '#shared/runtime/config/config.ts'
import { type Role, time } from '#shared/contracts/fields.ts'
import { type Activity, Health, readStatusEndpoint } from '#shared/contracts/operations.ts'
import { dataOf } from './answers.ts'
import { until } from './wait.ts'

export interface TestStack {
  readonly kind: 'embedded' | 'real'
  /** Whether this stack, of several that run the same tests, also runs those that need to run only once. */
  readonly isFirst?: boolean
  readonly port: number
  /** PEM of the certificate to trust. */
  readonly ca: string
  /** `fetch` of a path, on either host name of the service. */
  fetch(path: string, init?: RequestInit, host?: Host): Promise<Response>
  /** Log lines of its services that report an error, and output that is not in the log format. */
  complaints(): string[]
  close(): Promise<void>
}

/** Accepts requests: a test stack, or another release. */
export type Asked = Pick<TestStack, 'fetch'>

export type Host = 'localhost' | '127.0.0.1'

/** Lines of a log that report an error. */
export const errorLinesIn = (log: string): string[] =>
  log
    .split('\n')
    .filter((line) => line.includes('"level":"error"') || /^(error|panic|\S*Error)\b/i.test(line))

const FLUSH_MS = 30_000

/** Enough operators that the requests of one test exhaust no rate limit. */
const PEOPLE = 60
const VARIABLES: Record<Role, string> = {
  owner: 'EVENT_ADMIN_TOKEN',
  manager: 'EVENT_MANAGER_TOKEN',
  volunteer: 'EVENT_VOLUNTEER_TOKEN',
}

function tokenSettings(): Environment {
  const list = (role: Role) => Array.from({ length: PEOPLE }, (_, i) => `${role}${i}:token-of-${role}-${i}`)
  return Object.fromEntries(
    (Object.keys(VARIABLES) as Role[]).map((role) => [VARIABLES[role], list(role).join(',')]),
  )
}

/** Settings of every test stack: a flush each second, and no limit for the one address that all tests share. */
export const SETTINGS: Environment = {
  EVENT_FLUSH_SECONDS: '1',
  EVENT_LIMIT_ADDRESS: '1000000000',
  ...tokenSettings(),
}

let person = 0
/** Headers of an operator. Each call returns another operator, who has a separate rate limit. */
export const admin = (role: Role): { 'X-Admin-Token': string } => ({
  'X-Admin-Token': `token-of-${role}-${person++ % PEOPLE}`,
})

/** `GET` of a path of the API, as an operator. */
export const readAs = (stack: Asked, role: Role, path: string): Promise<Response> =>
  stack.fetch(`/api/event/${path}`, { headers: admin(role) })

/** A request to a path of the API, as an operator. */
export const callAs = (
  stack: Asked,
  role: Role,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> =>
  stack.fetch(`/api/event/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...admin(role) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

let pilgrim = 0
/** A pilgrim's id that no other test uses. */
export const newPilgrimId = (): string => `pilgrim-${++pilgrim}-${crypto.randomUUID().slice(0, 8)}`

/** An id as apps create it, which nobody else can know. */
export const newAppId = (): string =>
  `w-${Array.from({ length: 26 }, (_, i) => '0123456789abcdefghjkmnpqrstvwxyz'[Math.floor(Math.random() * (i === 0 ? 8 : 32))]).join('')}`

/** Somewhere in Taiwan. */
export const PLACE = { lat: 24.15, lng: 120.67 }

const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})

/** `POST checkin` at {@link PLACE}, overridden by these fields. */
export const checkIn = (stack: Asked, userId: string, fields: object = {}): Promise<Response> =>
  stack.fetch('/api/event/checkin', json({ user_id: userId, ...PLACE, ...fields }))

/** `POST track/sync`. */
export const syncTrack = (stack: Asked, userId: string, points: readonly unknown[]): Promise<Response> =>
  stack.fetch('/api/event/track/sync', json({ user_id: userId, points }))

/** `PUT admin/status`, as a manager. */
export const setStatus = (stack: TestStack, body: object): Promise<Response> =>
  callAs(stack, 'manager', 'PUT', 'admin/status', body)

/** `POST admin/end-activity`, as a manager. */
export const endActivity = (stack: Asked): Promise<Response> =>
  callAs(stack, 'manager', 'POST', 'admin/end-activity')

/** The event's status, as a volunteer reads it. */
export const readActivity = async (stack: Asked): Promise<Activity> =>
  dataOf(await readAs(stack, 'volunteer', 'admin/status'), readStatusEndpoint)

/** The health report. */
export async function healthOf(stack: TestStack): Promise<Health> {
  return Health.parse(await (await stack.fetch('/health')).json())
}

/** Resolves when everything admitted before this call is in the database. */
export async function flushed(stack: TestStack): Promise<void> {
  // A report may be a second old. One that names a later flush was created after this call.
  const calledAt = time(Date.now())
  await until(
    async () => {
      const { last_flush, buffer_size } = await healthOf(stack)
      return buffer_size === 0 && (last_flush ?? '') > calledAt
    },
    'a flush to empty the buffer',
    { timeoutMs: FLUSH_MS, everyMs: 100 },
  )
}
