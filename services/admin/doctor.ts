/** `bun run doctor`: checks the environment of an installation, and says what to fix. */
import { createSocket } from 'node:dgram'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecent, machineNow } from '#shared/runtime/clock.ts'
import { readCommandLine, refuseCommandLine } from '#shared/runtime/command-line.ts'
import { Redis } from 'ioredis'
import { connect as connectNats } from 'nats'
import { OLD_BACKUP_MS } from '#shared/core/rules/backup-age.ts'
import { type Config, environment } from '#shared/runtime/config/config.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { publicHosts, readCertificate } from '#shared/service/alerts/certificates.ts'
import { reachesNobody, readEmergencyReach, REACHES_NOBODY } from '#shared/service/alerts/emergency-reach.ts'
import { CLOCK_MS, FREE_BYTES, freeBytesOf } from '#shared/service/alerts/health-checks.ts'
import { readEvent } from '#shared/pilgrims/event-settings.ts'
import { readPalanquin } from '#shared/service/palanquin-device.ts'
import { createLineClient, ownWebhookAddress } from '#shared/service/line/line-client.ts'
import { natsServers } from '#shared/stores/bus/open-bus.ts'
import { expectSchema } from '#shared/stores/db/migrate.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { runCommand, screen } from './backup/command.ts'

const USAGE = `Checks settings, stores and their versions, disk, clocks, certificates, LINE's webhook and the last backup, and says
what to do about each fault. It changes no data.

  bun run doctor [--pilgrims <n>] [--backups <folder>] [--ntp <host>]

  --pilgrims   how many phones will record: says how much memory Redis needs (default: 5000)
  --backups    where the backups are (default: those of the schedule, and ./backups)
  --ntp        the time server to compare the clock with (default: pool.ntp.org; empty: none)
  --help       show this text

The command needs the settings of the services, which may be running.
Exit codes: 0 nothing to do, 1 something to do or failed, 2 wrong command line.`

const WAIT_MS = 5_000
const DAY_MS = 86_400_000
/**
 * A phone records every ten seconds, a pending point takes 126 bytes, and a flush starts at half of the
 * memory.
 */
const REDIS_BYTES_A_PILGRIM_SECOND = (126 * 2) / 10
const OLDEST_POSTGRES = 15
const OLDEST_REDIS = 6.2

/** Result of one check; `todo` only if something needs fixing. */
interface Found {
  readonly found: string
  readonly todo?: string
}

interface Finding extends Found {
  readonly what: string
}

/** Commands and instructions, for an installation of programs and for containers. */
const PLACES = {
  programs: {
    migrate: 'bun run migrate',
    backUp: 'bun run backup',
    setting: (names: string) => `Set ${names}.`,
    clock: 'Set this machine’s clock by NTP.',
  },
  containers: {
    migrate: 'docker compose run --rm migrate',
    backUp: 'docker compose run --rm backup',
    setting: (names: string) => `Set ${names} in .env, then docker compose up -d --wait.`,
    clock: 'Set the clock of the machine on which the containers run by NTP.',
  },
} as const
type Place = keyof typeof PLACES

const LATE = rejectWith(() => new Error(`no answer within ${WAIT_MS / 1_000} s`))

async function check(what: string, run: () => Promise<Found>, todo: string): Promise<Finding> {
  try {
    return { what, ...(await within(run(), WAIT_MS, LATE)) }
  } catch (error) {
    return { what, found: (error as Error).message || String(error), todo }
  }
}

/** Adds `todo` only if the check failed. */
const finding = (isWell: boolean, found: string, todo: string): Found => ({ found, ...(!isWell && { todo }) })

const apart = (aheadMs: number, other: string): string =>
  `${Math.abs(Math.round(aheadMs))} ms ${aheadMs < 0 ? 'behind' : 'ahead of'} ${other}`

const mb = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

async function postgres({ databaseUrl }: Config): Promise<Found> {
  const db = await openDatabase({ url: databaseUrl, dir: '' })
  try {
    const [row] = await db.sql<{ version: string }[]>`SELECT current_setting('server_version') AS version`
    await expectSchema(db)
    const { version } = row!
    const isNew = Number.parseInt(version) >= OLDEST_POSTGRES
    return finding(
      isNew,
      `version ${version}, schema of this release`,
      `Use Postgres ${OLDEST_POSTGRES} or later.`,
    )
  } finally {
    await db.close()
  }
}

/**
 * Number of cluster masters with slots, from the cluster's own list: the URLs may name only some nodes, or
 * replicas.
 */
const mastersIn = (nodes: string): number =>
  nodes.split('\n').filter((line) => {
    const [, , flags = '', ...more] = line.split(' ')
    return flags.includes('master') && more.length > 5
  }).length

async function redisNode(url: string, all: number, flushMs: number): Promise<Found> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, connectTimeout: WAIT_MS })
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    const [info, [seconds, micros]] = await Promise.all([redis.info(), redis.time()])
    const read = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? ''
    const version = read('redis_version')
    const limit = Number(read('maxmemory'))
    const masters = read('cluster_enabled') === '1' ? mastersIn(String(await redis.cluster('NODES'))) : 1
    const pilgrims = Math.ceil(all / Math.max(1, masters))
    const needed = pilgrims * REDIS_BYTES_A_PILGRIM_SECOND * (flushMs / 1_000)
    const aheadMs = machineNow() - (Number(seconds) * 1_000 + Number(micros) / 1_000)
    const todos = [
      Number.parseFloat(version) < OLDEST_REDIS && `Use Redis ${OLDEST_REDIS} or later.`,
      read('aof_enabled') !== '1' && 'Set appendonly yes: without it a restart of Redis loses points.',
      read('maxmemory_policy') !== 'noeviction' && 'Set maxmemory-policy noeviction.',
      limit !== 0 && limit < needed && `Set maxmemory (REDIS_MAXMEMORY) to ${mb(needed)} or more.`,
      Math.abs(aheadMs) > CLOCK_MS && 'Set the clocks by NTP.',
    ].filter((todo) => todo !== false)
    const found = `version ${version}; limit ${limit === 0 ? 'none' : mb(limit)}, ${pilgrims} pilgrims need ${mb(needed)}; clock ${apart(-aheadMs, 'ours')}`
    return finding(todos.length === 0, found, todos.join(' '))
  } finally {
    redis.disconnect()
  }
}

async function nats({ natsUrl }: Config): Promise<Found> {
  const connection = await connectNats({ ...natsServers(natsUrl), reconnect: false, timeout: WAIT_MS })
  const { version = 'unknown', jetstream } = connection.info ?? {}
  await connection.close()
  return finding(jetstream === true, `version ${version}`, 'Start NATS with --jetstream.')
}

async function objects({ objectsUrl, s3 }: Config): Promise<Found> {
  const store = await openObjects(objectsUrl, s3)
  try {
    await store.probe()
    return { found: 'answers' }
  } finally {
    await store.close()
  }
}

async function disk({ dataDir }: Config): Promise<Found> {
  const free = await freeBytesOf(dataDir)
  const wanted = 2 * FREE_BYTES
  return finding(free >= wanted, `${mb(free)} free for ${dataDir}`, `Free at least ${mb(wanted)}.`)
}

/** How far this machine's clock is ahead, according to a time server (RFC 4330). */
async function clock(host: string, place: Place): Promise<Found> {
  const socket = createSocket('udp4')
  try {
    const sentMs = machineNow()
    const answer = await new Promise<Buffer>((resolve, reject) => {
      socket.on('message', resolve).on('error', reject)
      const question = Buffer.alloc(48)
      question[0] = 0x23
      socket.send(
        question,
        Number(host.split(':')[1] ?? 123),
        host.split(':')[0],
        (error) => error && reject(error),
      )
      setTimeout(() => reject(new Error(`${host} did not answer`)), WAIT_MS / 2).unref()
    })
    const SECONDS_1900_TO_1970 = 2_208_988_800
    const theirsMs =
      (answer.readUInt32BE(40) - SECONDS_1900_TO_1970 + answer.readUInt32BE(44) / 2 ** 32) * 1_000
    const aheadMs = (sentMs + machineNow()) / 2 - theirsMs
    return finding(Math.abs(aheadMs) <= CLOCK_MS, apart(aheadMs, host), PLACES[place].clock)
  } finally {
    socket.close()
  }
}

async function certificate(host: string, port: number, place: Place): Promise<Found> {
  if (place === 'containers' && /^(localhost|127\.|\[::1\])/.test(host))
    return { found: 'not checked: in a container this name means the container itself' }
  const { expiresMs, dueMs, distrust } = await readCertificate(host, port)
  const days = (expiresMs - machineNow()) / DAY_MS
  const found = `${days < 2 ? `${Math.floor(days * 24)} h` : `${Math.floor(days)} days`} left`
  if (distrust !== null)
    return {
      found: `${found}; phones do not trust it (${distrust})`,
      todo: 'Use TLS_MODE=acme, or a certificate that phones trust. In a rehearsal install its root on the phones.',
    }
  return finding(
    machineNow() < dueMs,
    found,
    'Look at the log of Caddy why the certificate is not renewed, and renew it.',
  )
}

async function line(config: Config): Promise<Found> {
  const client = createLineClient(config.line)
  if (client === null) return { found: 'not checked, without an access token' }
  const registered = await client.webhookAddress()
  const expected = ownWebhookAddress(config)
  return finding(
    registered === expected,
    registered,
    `Register ${expected} as the webhook in LINE's console.`,
  )
}

async function emergencies(config: Config): Promise<Found> {
  const todo = `${REACHES_NOBODY[0]!.toUpperCase()}${REACHES_NOBODY.slice(1)}. Set LINE_CHANNEL_ACCESS_TOKEN or Web Push, and give the people on duty the role of owner or manager (console, People).`
  if (config.line.accessToken === '' && config.push === null)
    return { found: 'neither LINE nor Web Push is set', todo }
  if (config.databaseUrl === '') return { found: 'the console’s view System shows who is alerted of an SOS' }
  const db = await openDatabase({ url: config.databaseUrl, dir: '' })
  // The check of Postgres says what to do if it is down.
  const reach = await readEmergencyReach({ config, db }).catch(() => null)
  await db.close()
  if (reach === null) return { found: 'not known without Postgres' }
  const found = `alerts ${reach.line} people by LINE and ${reach.web_push} devices by Web Push`
  return finding(!reachesNobody(reach), found, todo)
}

const PALANQUINS = { none: 'none is named', unbound: 'named, and no device moves it' }

async function palanquin(config: Config): Promise<Found> {
  if (config.databaseUrl === '') return { found: 'the console shows its device' }
  const db = await openDatabase({ url: config.databaseUrl, dir: '' })
  try {
    if ((await readEvent(db, config)).followed === 'walk') return { found: 'a walk has none' }
    const named = await readPalanquin({ config, db })
    return finding(
      named !== 'unbound',
      typeof named === 'string' ? PALANQUINS[named] : named.keyHash === null ? 'a phone' : 'a tracker',
      'Name its device anew, or take the name back (console, People, the pilgrim): its tracker is revoked, its pilgrim hides, or others may know the id of its phone.',
    )
  } catch {
    // The check of Postgres says what to do.
    return { found: 'not known without Postgres' }
  } finally {
    await db.close()
  }
}

function backups(folders: readonly string[], place: Place): Promise<Found> {
  const newest = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((file) => file.endsWith('.jsonl.zst'))
    .map((file) => statSync(file).mtimeMs)
    .reduce((moment, other) => Math.max(moment, other), 0)
  const ageMs = machineNow() - newest
  const found =
    newest === 0 ? `none in ${folders.join(', ')}` : `the last is ${(ageMs / 3_600_000).toFixed(1)} hours old`
  const todo = `Take one: ${PLACES[place].backUp}.`
  return Promise.resolve(finding(isRecent(newest, machineNow(), OLD_BACKUP_MS), found, todo))
}

function settings({ alertUserId, publicUrl, env }: Config, place: Place): Found {
  const missing = [
    alertUserId === '' && 'EVENT_ALERT_USER_ID (nobody is alerted)',
    env === 'production' && publicUrl.startsWith('https://localhost') && 'EVENT_PUBLIC_URL',
  ].filter((one) => one !== false)
  return finding(missing.length === 0, 'valid', PLACES[place].setting(missing.join(', ')))
}

function identity({ identity: chosen, line: { accessToken } }: Config): Found {
  if (chosen === 'line') return { found: 'line: who writes in a pilgrim’s name logs in with LINE' }
  return finding(
    accessToken === '',
    accessToken === ''
      ? 'open: whoever knows a LINE id can write in its name and find out where its pilgrim is'
      : 'open: the bot and the app know each pilgrim as two persons, and whoever knows a LINE id can write in its name',
    'Set EVENT_IDENTITY=line and LINE_LOGIN_CHANNEL_ID: then the bot shows the walk that the app records.',
  )
}

export interface Options {
  readonly pilgrims: number
  readonly backups: string | readonly string[]
  readonly ntp: string
  readonly place: Place
}

/** Runs all checks at once. @returns a finding for each, in a stable order */
export function examine(config: Config, options: Options): Promise<Finding[]> {
  const store = async (what: string, url: string, run: () => Promise<Found>, todo: string) =>
    url === '' ? { what, found: 'embedded' } : check(what, run, todo)
  const { place } = options
  const { migrate, backUp } = PLACES[place]
  const redis = (url: string) => redisNode(url.trim(), options.pilgrims, config.flushMs)
  return Promise.all([
    Promise.resolve({ what: 'settings', ...settings(config, place) }),
    Promise.resolve({ what: 'identity', ...identity(config) }),
    store(
      'Postgres',
      config.databaseUrl,
      () => postgres(config),
      `Start Postgres, and run the migration job: ${migrate}.`,
    ),
    ...config.redisUrl
      .split(',')
      .map((url) => store('Redis', config.redisUrl, () => redis(url), 'Start Redis, and check REDIS_URL.')),
    store('NATS', config.natsUrl, () => nats(config), 'Start NATS, and check NATS_URL.'),
    store('objects', config.objectsUrl, () => objects(config), 'Check OBJECTS_URL and the S3 settings.'),
    check('disk', () => disk(config), 'Check the disk of EVENT_DATA_DIR.'),
    ...[options.ntp]
      .filter((host) => host !== '')
      .map((host) =>
        check('clock', () => clock(host, place), 'Compare the clock by hand, or name a time server: --ntp.'),
      ),
    ...publicHosts(config).map(({ host, port }) =>
      check(
        `certificate of ${host}`,
        () => certificate(host, port, place),
        'Check that the name leads to this machine, and that the port is open.',
      ),
    ),
    check('palanquin', () => palanquin(config), 'Start Postgres: it knows the device.'),
    check('SOS', () => emergencies(config), 'Start Postgres: it knows who is alerted of an SOS.'),
    check('LINE', () => line(config), "Check LINE's access token."),
    check('backup', () => backups([options.backups].flat(), place), `Take a backup: ${backUp}.`),
  ])
}

if (import.meta.main) {
  const { pilgrims, ...others } = readCommandLine(USAGE, {
    pilgrims: { type: 'string', default: '5000' },
    backups: { type: 'string' },
    ntp: { type: 'string', default: 'pool.ntp.org' },
  }).values
  const count = Number(pilgrims)
  if (!Number.isInteger(count) || count < 1)
    refuseCommandLine(USAGE, '--pilgrims must be a whole number above 0')
  // services/Dockerfile sets it.
  const place = environment().IN_CONTAINER === '1' ? 'containers' : 'programs'
  await runCommand(async (config) => {
    const { backups = [config.backup?.dir ?? [], './backups'].flat(), ntp } = others
    const findings = await examine(config, { pilgrims: count, backups, ntp, place })
    for (const { what, found, todo } of findings) {
      screen.print(`${todo === undefined ? 'ok  ' : 'DO  '}${what}: ${found}`)
      if (todo !== undefined) screen.print(`      ${todo}`)
    }
    const open = findings.filter(({ todo }) => todo !== undefined).length
    screen.print(open === 0 ? 'Nothing to do.' : `${open} to do.`)
    // Do not wait for clients that hang.
    process.exit(open === 0 ? 0 : 1)
  })
}
