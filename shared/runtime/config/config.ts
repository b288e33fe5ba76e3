/**
 * The configuration: read once from the environment, validated as a whole, and passed on as a value.
 */
import { join } from 'node:path'
import { z } from 'zod'
import { validationMessage } from '#shared/runtime/validation-message.ts'
import {
  parseTokens,
  parseOrigins,
  readMapTiles,
  type Environment,
  resolveFiles,
  timeZone,
  eventFromEnvironment,
  readPush,
  readArea,
} from './setting-values.ts'
import { readRoute } from './read-route.ts'
import { LoggableError } from '#shared/runtime/log.ts'

export type { Environment }

const flag = z.enum(['development', 'production']).default('development')
const count = (fallback: number, min = 1, max = 2_147_483_647) =>
  z.coerce.number().int().min(min).max(max).default(fallback)
const secret = z.string().default('')
const server = (scheme: RegExp, example: string) =>
  z
    .string()
    .regex(scheme, { error: `must begin with ${example}` })
    .default('')

/** A scheduled backup is deleted after at most this many days, because it may contain people erased since. */
export const BACKUP_DAYS = 30
/** What scheduled backups may take in the data directory, where nobody has chosen a folder for them. */
const BACKUP_BYTES = 4 * 1_024 ** 3

/** Every setting with its default and meaning, in the order of services/REFERENCE.md. */
const Settings = z.object({
  EVENT_ENV: flag.describe('`production` needs `EVENT_IDENTITY`, and the bot needs `LINE_CHANNEL_SECRET`'),
  EVENT_NAME: z
    .string()
    .optional()
    .describe('name of the event until an owner sets it in the console (_Event_)'),
  EVENT_PORT: count(8443, 0, 65_535).describe('port of the embedded run'),
  EVENT_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, { error: 'must be an address to listen on, such as 127.0.0.1 or 0.0.0.0' })
    .default('127.0.0.1')
    .describe('listening address of the embedded run; `0.0.0.0`: reachable by phones'),
  PORT: count(3_000, 0, 65_535).describe('port of a service of its own'),
  EVENT_DATA_DIR: z
    .string()
    .default('./data')
    .describe('data of the embedded run; journals and redo logs of the services'),
  EVENT_PUBLIC_URL: z
    .url()
    .optional()
    .describe('address of the API as pilgrims reach it; unset: `https://localhost:<EVENT_PORT>`'),
  ALIAS_HOST: z.string().default('').describe('second public host, whose certificate is also watched'),
  EVENT_CHECKIN_URL: z
    .url()
    .optional()
    .describe('page of the bot’s check-in link; unset: the app (`/walk/`)'),
  EVENT_SURVEY_URL: z
    .url()
    .optional()
    .describe('page of the bot’s survey link; unset: the survey in the app'),
  EVENT_TIMEZONE: timeZone.default('Asia/Taipei').describe('IANA zone of the event’s days and hours'),
  EVENT_AREA: z
    .string()
    .default('')
    .describe('GeoJSON polygon until an owner sets it in the console; points outside do not count'),
  EVENT_ROUTE: z
    .string()
    .default('')
    .describe('GeoJSON file with the route and its stations until an owner sets it in the console'),
  EVENT_MAP_TILES: z
    .string()
    .default('')
    .describe('PMTiles archive: the public map then offers a detailed map'),
  EVENT_ADMIN_TOKEN: secret.describe(
    'tokens of owners (level 3), also as `name:token,…`; more in the console',
  ),
  EVENT_MANAGER_TOKEN: secret.describe('tokens of managers (level 2)'),
  EVENT_VOLUNTEER_TOKEN: secret.describe('tokens of volunteers (level 1)'),
  EVENT_IDENTITY: z
    .enum(['open', 'line'])
    .optional()
    .describe(
      '`line`: writes need a LIFF ID token; `open`: they do not; unset: `open`, and no start in production',
    ),
  EVENT_MAP_CROWD: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('fewest pilgrims that the public map shows in a place; unset: 5, in development 1'),
  EVENT_MAP_DIR: z.string().default('').describe('folder for map files that Caddy serves; unset: none'),
  EVENT_CORS_ORIGINS: z.string().default('*').describe('allowed origins, comma-separated'),
  EVENT_ALERT_USER_ID: z.string().default('').describe('LINE user id that receives alerts'),
  EVENT_PUSH_PUBLIC_KEY: z
    .string()
    .default('')
    .describe('Web Push: public key (`bun run push:keys`); unset: off'),
  EVENT_PUSH_PRIVATE_KEY: secret.describe('Web Push: private key'),
  EVENT_PUSH_SUBJECT: z
    .string()
    .default('')
    .describe('Web Push: contact for the push services (public); unset: `EVENT_PUBLIC_URL`'),
  EVENT_PUSH_SERVICES: z
    .string()
    .default('')
    .describe('Web Push: allowed hosts of devices, comma-separated (`*.` allowed); unset: those of browsers'),
  DATABASE_URL: server(/^postgres(ql)?:\/\//, 'postgres://').describe('`postgres://…`; unset: embedded'),
  REDIS_URL: server(/^rediss?:\/\//, 'redis://').describe(
    '`redis://…`; several nodes, comma-separated: a Cluster; unset: embedded',
  ),
  NATS_URL: z.string().default('').describe('`nats://…`; unset: embedded'),
  OBJECTS_URL: z
    .string()
    .default('')
    .describe('`file:…` or `s3://bucket[/prefix]`; unset: in the data directory'),
  S3_ENDPOINT: z.string().default('').describe('address of an S3 server other than Amazon’s'),
  S3_REGION: z.string().default('us-east-1').describe('region of the S3 server'),
  S3_ACCESS_KEY_ID: secret.describe('credentials of the S3 server'),
  S3_SECRET_ACCESS_KEY: secret.describe('credentials of the S3 server'),
  LINE_CHANNEL_SECRET: secret.describe('verifies webhooks'),
  LINE_CHANNEL_ACCESS_TOKEN: secret.describe('sends messages; unset: they are recorded as skipped'),
  LINE_LOGIN_CHANNEL_ID: z.string().default('').describe('audience of ID tokens'),
  LINE_LIFF_ID: z.string().default('').describe('LIFF app at `/walk/`, with which the pilgrims’ app logs in'),
  LINE_API_BASE_URL: z.string().default('').describe('another address of LINE’s API'),
  LINE_DATA_API_BASE_URL: z.string().default('').describe('another address of LINE’s data API'),
  EVENT_PARTITIONS: count(1, 1, 1_024).describe('hash slots of the buffer; 16 on a Redis Cluster'),
  EVENT_FLUSH_SECONDS: count(300).describe('time between flushes'),
  EVENT_BACKUP_DIR: z
    .string()
    .default('')
    .describe('folder of scheduled backups; unset: `data/backups` if embedded, else none'),
  EVENT_BACKUP_HOURS: count(24, 0, BACKUP_DAYS * 24).describe('hours between scheduled backups; `0`: none'),
  EVENT_BACKUP_KEEP: count(7, 1, BACKUP_DAYS * 24).describe(
    'number of scheduled backups to keep, for 30 days at most',
  ),
  EVENT_ADMIT_MS: count(250).describe('milliseconds that a check-in waits for Redis before it is journaled'),
  EVENT_ADMIT_RETRY_MS: count(8_000).describe(
    'timeout of that first write, in milliseconds, before the journal is replayed',
  ),
  EVENT_MAX_AGE_DAYS: count(30, 1, 36_500).describe('points older than this are refused'),
  EVENT_BODY_BYTES: count(102_400).describe('largest request body'),
  EVENT_DUPLICATE_SECONDS: count(60).describe('window in which a check-in can be a duplicate'),
  EVENT_BUFFER_SECONDS: count(259_200).describe('longest time of a point in the buffer'),
  EVENT_PENDING_MAX: count(50_000).describe('most pending points of a pilgrim'),
  EVENT_JOURNAL_MAX: count(1_000_000).describe('most check-ins in a journal, of 1,000 bytes each on average'),
  EVENT_LIMIT_CHECKIN: count(5).describe('check-ins of a pilgrim'),
  EVENT_LIMIT_CHECKIN_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_SYNC: count(10).describe('track syncs of a pilgrim'),
  EVENT_LIMIT_SYNC_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_INGEST: count(3_000).describe('requests of a pilgrim’s tracker apps with new points'),
  EVENT_LIMIT_INGEST_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_SURVEY: count(2).describe('surveys of a pilgrim'),
  EVENT_LIMIT_SURVEY_SECONDS: count(600).describe('in this many seconds'),
  EVENT_LIMIT_USER_WRITE: count(30).describe('other writes of a pilgrim, for each route'),
  EVENT_LIMIT_USER_WRITE_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_ADDRESS_WRITE: count(20).describe(
    'writes without user id, and own erasures, of an address, for each route',
  ),
  EVENT_LIMIT_ADDRESS_WRITE_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_ADDRESS: count(6_000).describe(
    'milliseconds of CPU for an address, for all services together, per replica',
  ),
  EVENT_LIMIT_ADDRESS_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_DRAWING: count(120).describe('share cards drawn and trackers created by an address'),
  EVENT_LIMIT_DRAWING_SECONDS: count(60).describe('in this many seconds'),
  EVENT_LIMIT_ADMIN: count(30).describe('calls with one admin token'),
  EVENT_LIMIT_ADMIN_SECONDS: count(60).describe('in this many seconds'),
  OTEL_EXPORTER_OTLP_ENDPOINT: server(/^https?:\/\//, 'http:// or https://').describe(
    '`http://…` of a collector of traces; unset: none',
  ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe('traced share of requests, flushes and events, 0 to 1'),
})

export const SETTING_NAMES: readonly string[] = Object.keys(Settings.shape)

/** Every setting with its default as text (empty: none) and its meaning. */
export const describeSettings = () =>
  Object.entries(Settings.shape).map(([name, setting]) => ({
    name,
    fallback: String(setting.safeParse(undefined).data ?? ''),
    meaning: setting.description ?? '',
  }))

/** The process's environment. No other module reads it. */
export const environment = (): Environment => process.env

/** A rate limit: `max` calls in `windowMs` milliseconds. */
export interface Window {
  readonly max: number
  readonly windowMs: number
}

/** Thrown at start; lists all faults together. */
export class ConfigError extends LoggableError {
  override name = 'ConfigError'
  constructor(readonly faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    )
  }
}

/** Parses the settings. A faulty one is reported and then treated as unset, so that all others are validated too. */
function parseSettings(given: Environment, faults: string[]): Parsed {
  const parsed = Settings.safeParse(given, { error: validationMessage })
  if (parsed.success) return parsed.data
  const faulty = new Set(parsed.error.issues.map(({ path }) => path.join('.')))
  for (const { path, message } of parsed.error.issues) faults.push(`${path.join('.')}: ${message}`)
  return Settings.parse(Object.fromEntries(Object.entries(given).filter(([name]) => !faulty.has(name))))
}

/** Variables of earlier releases. A start with one of them is refused, because its value would be ignored. */
const MOVED = [
  'EVENT_STARTS_AT',
  'EVENT_ENDS_AT',
  'EVENT_LANGUAGE',
  'EVENT_EMERGENCY_NUMBER',
  'EVENT_ORGANISER_PHONE',
]

const movedFaults = (env: Environment): string[] =>
  MOVED.flatMap((name) => [name, `${name}_FILE`])
    .filter((name) => env[name]?.trim())
    .map(
      (name) =>
        `${name}: is no setting any more. Owners set it in the console, in the view Event; remove it from the environment`,
    )

/** Variables of compose, Caddy and Bun's S3 client. */
const FOREIGN_VARIABLES = ['EVENT_FILES', 'LINE_BOT_UPSTREAM', 'S3_SESSION_TOKEN']

/** Names that look like settings but are unknown, probably misspelt. */
export const unknownSettings = (env: Environment): string[] => {
  const names = [...SETTING_NAMES, ...MOVED].flatMap((name) => [name, `${name}_FILE`])
  const known = new Set([...names, ...FOREIGN_VARIABLES])
  return Object.keys(env).filter((name) => /^(EVENT|LINE|S3)_/.test(name) && !known.has(name))
}

const window = (max: number, seconds: number): Window => ({ max, windowMs: seconds * 1_000 })
type Parsed = z.infer<typeof Settings>
const bufferOf = (s: Parsed) => ({
  partitions: s.EVENT_PARTITIONS,
  admitMs: s.EVENT_ADMIT_MS,
  retryMs: s.EVENT_ADMIT_RETRY_MS,
  retentionMs: s.EVENT_BUFFER_SECONDS * 1_000,
  duplicateMs: s.EVENT_DUPLICATE_SECONDS * 1_000,
  pendingMax: s.EVENT_PENDING_MAX,
  journalMax: s.EVENT_JOURNAL_MAX,
})

const limitsOf = (s: Parsed) => ({
  checkin: window(s.EVENT_LIMIT_CHECKIN, s.EVENT_LIMIT_CHECKIN_SECONDS),
  sync: window(s.EVENT_LIMIT_SYNC, s.EVENT_LIMIT_SYNC_SECONDS),
  ingest: window(s.EVENT_LIMIT_INGEST, s.EVENT_LIMIT_INGEST_SECONDS),
  survey: window(s.EVENT_LIMIT_SURVEY, s.EVENT_LIMIT_SURVEY_SECONDS),
  'user-write': window(s.EVENT_LIMIT_USER_WRITE, s.EVENT_LIMIT_USER_WRITE_SECONDS),
  'address-write': window(s.EVENT_LIMIT_ADDRESS_WRITE, s.EVENT_LIMIT_ADDRESS_WRITE_SECONDS),
  address: window(s.EVENT_LIMIT_ADDRESS, s.EVENT_LIMIT_ADDRESS_SECONDS),
  drawing: window(s.EVENT_LIMIT_DRAWING, s.EVENT_LIMIT_DRAWING_SECONDS),
  admin: window(s.EVENT_LIMIT_ADMIN, s.EVENT_LIMIT_ADMIN_SECONDS),
})

const s3Of = (s: Parsed) => ({
  endpoint: s.S3_ENDPOINT,
  region: s.S3_REGION,
  accessKeyId: s.S3_ACCESS_KEY_ID,
  secretAccessKey: s.S3_SECRET_ACCESS_KEY,
})

const lineOf = (s: Parsed) => ({
  channelSecret: s.LINE_CHANNEL_SECRET,
  accessToken: s.LINE_CHANNEL_ACCESS_TOKEN,
  loginChannelId: s.LINE_LOGIN_CHANNEL_ID,
  liffId: s.LINE_LIFF_ID,
  apiBaseUrl: s.LINE_API_BASE_URL,
  dataApiBaseUrl: s.LINE_DATA_API_BASE_URL,
})

/**
 * Null: there is no folder. The embedded run has one in its data directory. With `everyMs` 0 no backups are taken, but
 * old ones are still deleted. The newest backup stays even if it alone has more than `maxBytes`.
 */
function backupOf(s: Parsed) {
  const isEmbedded = s.DATABASE_URL === ''
  const dir = s.EVENT_BACKUP_DIR || (isEmbedded ? join(s.EVENT_DATA_DIR, 'backups') : '')
  if (dir === '') return null
  const maxBytes = s.EVENT_BACKUP_DIR === '' ? BACKUP_BYTES : Infinity
  return { dir, maxBytes, everyMs: s.EVENT_BACKUP_HOURS * 3_600_000, keep: s.EVENT_BACKUP_KEEP }
}

const readWay = (s: Parsed, faults: string[]) => ({
  area: readArea(s.EVENT_AREA, faults),
  ...readRoute(s.EVENT_ROUTE, faults),
})

/**
 * Parses an environment into the configuration.
 * @param isBot whether the process receives LINE's webhooks and sends Web Push; others do not need the secrets for
 *   these
 * @throws ConfigError naming every fault
 */
export function readConfig(env: Environment, isBot = false) {
  const faults = movedFaults(env)
  const given = resolveFiles(SETTING_NAMES, env, faults)
  const s = parseSettings(given, faults)
  const tokens = parseTokens(s, faults)
  const corsOrigins = parseOrigins(s.EVENT_CORS_ORIGINS, faults)
  const way = readWay(s, faults)
  const mapTiles = readMapTiles(s.EVENT_MAP_TILES, faults)
  if (isBot && s.EVENT_ENV === 'production' && !s.LINE_CHANNEL_SECRET)
    faults.push('LINE_CHANNEL_SECRET: is required in production; without it anyone could send webhook events')
  if (s.EVENT_ENV === 'production' && given.EVENT_IDENTITY === undefined)
    faults.push(
      'EVENT_IDENTITY: must be chosen in production: line (LINE proves who somebody is) or open (whoever knows an id can write in its name; services/README.md, "Security")',
    )
  if (s.EVENT_IDENTITY === 'line' && !s.LINE_LOGIN_CHANNEL_ID)
    faults.push('LINE_LOGIN_CHANNEL_ID: is required with EVENT_IDENTITY=line')
  if (s.EVENT_BACKUP_HOURS * s.EVENT_BACKUP_KEEP > BACKUP_DAYS * 24)
    faults.push(
      `EVENT_BACKUP_KEEP: times EVENT_BACKUP_HOURS must be at most ${BACKUP_DAYS} days, because backups hold people who were erased since`,
    )
  const publicUrl = s.EVENT_PUBLIC_URL ?? `https://localhost:${s.EVENT_PORT}`
  const push = readPush(s, publicUrl, isBot, faults)
  if (faults.length > 0) throw new ConfigError(faults)

  return {
    env: s.EVENT_ENV,
    port: s.EVENT_PORT,
    host: s.EVENT_HOST,
    servicePort: s.PORT,
    dataDir: s.EVENT_DATA_DIR,
    timeZone: s.EVENT_TIMEZONE,
    event: { ...eventFromEnvironment(s, way), ...way },
    publicUrl: publicUrl.replace(/\/$/, ''),
    aliasHost: s.ALIAS_HOST,
    checkinUrl: s.EVENT_CHECKIN_URL ?? `${publicUrl.replace(/\/$/, '')}/walk/`,
    surveyUrl: s.EVENT_SURVEY_URL ?? `${publicUrl.replace(/\/$/, '')}/walk/#survey`,
    identity: s.EVENT_IDENTITY ?? 'open',
    mapDir: s.EVENT_MAP_DIR,
    mapCrowd: s.EVENT_MAP_CROWD ?? (s.EVENT_ENV === 'development' ? 1 : 5),
    corsOrigins,
    alertUserId: s.EVENT_ALERT_USER_ID,
    maxAgeMs: s.EVENT_MAX_AGE_DAYS * 86_400_000,
    flushMs: s.EVENT_FLUSH_SECONDS * 1_000,
    backup: backupOf(s),
    bodyBytes: s.EVENT_BODY_BYTES,
    mapTiles,
    tokens,
    buffer: bufferOf(s),
    limits: limitsOf(s),
    databaseUrl: s.DATABASE_URL,
    redisUrl: s.REDIS_URL,
    natsUrl: s.NATS_URL,
    objectsUrl: s.OBJECTS_URL,
    s3: s3Of(s),
    line: lineOf(s),
    traces: { endpoint: s.OTEL_EXPORTER_OTLP_ENDPOINT, share: s.OTEL_TRACES_SAMPLER_ARG },
    push,
  }
}

export type Config = ReturnType<typeof readConfig>
