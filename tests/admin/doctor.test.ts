/** `doctor` on real stores: no findings if all is well, and a sentence for each fault. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSocket, type Socket } from 'node:dgram'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { examine, type Options } from '#services/admin/doctor.ts'
import { OLD_BACKUP_MS } from '#shared/core/rules/backup-age.ts'
import { type Environment, readConfig } from '#shared/runtime/config/config.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { newDirectory, type Server } from '#tests/helpers/process.ts'
import { lineSettings, startLineServer } from '#tests/helpers/line-server.ts'
import { freePort, startNats, startRedis, startRedisCluster } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { startTlsServer } from '#tests/helpers/tls-server.ts'

/** A time server whose clock is `aheadMs` ahead of ours. */
function startTimeServer(aheadMs: number): Promise<Socket> {
  const server = createSocket('udp4')
  server.on('message', (_, { port, address }) => {
    const answer = Buffer.alloc(48)
    const nowMs = Date.now() + aheadMs
    answer.writeUInt32BE(Math.floor(nowMs / 1_000) + 2_208_988_800, 40)
    answer.writeUInt32BE(Math.floor(((nowMs % 1_000) / 1_000) * 2 ** 32), 44)
    server.send(answer, port, address)
  })
  return new Promise((resolve) => server.bind(0, '127.0.0.1', () => resolve(server)))
}

describeOnServers('doctor', () => {
  let database: Awaited<ReturnType<typeof openTestDatabase>>
  let redis: Server
  let bare: Server
  let nats: Server
  let directory: string
  let well: Environment
  let options: Options
  const times: Socket[] = []

  beforeAll(async () => {
    ;[database, redis, bare, nats, directory] = await Promise.all([
      openTestDatabase(),
      startRedis({ args: ['--appendonly', 'yes', '--maxmemory', '1gb', '--maxmemory-policy', 'noeviction'] }),
      startRedis({
        args: ['--appendonly', 'no', '--maxmemory', '10mb', '--maxmemory-policy', 'allkeys-lru'],
      }),
      startNats(),
      newDirectory('doctor'),
    ])
    times.push(await startTimeServer(0), await startTimeServer(60_000))
    writeFileSync(join(directory, 'event.jsonl.zst'), '')
    options = {
      pilgrims: 5_000,
      backups: directory,
      ntp: `127.0.0.1:${times[0]!.address().port}`,
      place: 'programs',
    }
    well = {
      EVENT_DATA_DIR: directory,
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      NATS_URL: nats.url,
      EVENT_ALERT_USER_ID: 'U0123456789abcdef0123456789abcdef',
      EVENT_PUSH_PUBLIC_KEY: 'key',
      EVENT_PUSH_SUBJECT: 'mailto:event@walk.example',
    }
    const sql = postgres(database.url, { max: 1 })
    await sql`
      INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at)
      VALUES (gen_random_uuid(), ${well.EVENT_ALERT_USER_ID!}, 'https://push.example/1', 'p', 'a', now())`
    await sql.end()
  })
  afterAll(async () => {
    for (const server of times) server.close()
    await Promise.all([database?.drop(), redis?.close(), bare?.close(), nats?.close()])
    rmSync(directory, { recursive: true })
  })

  /** Instructions by check, without the certificate, which has its own tests. */
  async function todos(env: Environment, changed: Partial<Options> = {}) {
    const findings = await examine(readConfig({ ...well, ...env }), { ...options, ...changed })
    const open = findings.filter(({ what, todo }) => todo !== undefined && !what.startsWith('certificate'))
    return Object.fromEntries(open.map(({ what, todo }) => [what, todo]))
  }

  test('finds nothing to do where all is well, and names the versions', async () => {
    expect(await todos({})).toEqual({})
    const findings = await examine(readConfig(well), options)
    const found = Object.fromEntries(findings.map((finding) => [finding.what, finding.found]))
    expect(found.Postgres).toMatch(/^version \d+.*, schema of this release$/)
    expect(found.Redis).toMatch(
      /^version \d+\.\d+\.\d+; limit 1024 MB, 5000 pilgrims need 36 MB; clock -?\d+ ms/,
    )
    expect(found.NATS).toMatch(/^version \d+\.\d+/)
  })

  test('says what to set in a Redis that would lose points', async () => {
    expect((await todos({ REDIS_URL: bare.url })).Redis).toBe(
      'Set appendonly yes: without it a restart of Redis loses points. Set maxmemory-policy noeviction. ' +
        'Set maxmemory (REDIS_MAXMEMORY) to 36 MB or more.',
    )
  })

  test('counts the memory that so many pilgrims need', async () => {
    expect(await todos({}, { pilgrims: 250_000 })).toEqual({
      Redis: 'Set maxmemory (REDIS_MAXMEMORY) to 1802 MB or more.',
    })
  })

  test('divides it by the masters of a cluster, however many nodes the URLs name (long)', async () => {
    await using cluster = await startRedisCluster(3, 1)
    // A master, and a replica.
    const urls = [cluster.nodes[0]!.url, cluster.nodes[5]!.url].join()
    const findings = await examine(readConfig({ ...well, REDIS_URL: urls }), { ...options, pilgrims: 90_000 })
    const found = findings.filter(({ what }) => what === 'Redis').map((finding) => finding.found)
    expect(found).toHaveLength(2)
    for (const text of found) expect(text).toContain('30000 pilgrims need 216 MB')
    // In parallel: stopped one by one, each would wait for the others.
    await Promise.all(cluster.nodes.map((node) => node.stop('SIGKILL')))
  })

  test('reports each store that does not answer, beside the others that do', async () => {
    const [a, b, c] = [freePort(), freePort(), freePort()]
    const found = await todos({
      DATABASE_URL: `postgres://event@127.0.0.1:${a}/event`,
      REDIS_URL: `redis://127.0.0.1:${b}`,
      NATS_URL: `nats://127.0.0.1:${c}`,
    })
    expect(Object.keys(found)).toEqual(['Postgres', 'Redis', 'NATS'])
  })

  test('refuses a database without the schema', async () => {
    const empty = new URL(database.url)
    empty.pathname = '/postgres'
    expect((await todos({ DATABASE_URL: empty.href })).Postgres).toContain('bun run migrate')
  })

  test('in a container it names what to do there', async () => {
    const empty = new URL(database.url)
    empty.pathname = '/postgres'
    const env = { DATABASE_URL: empty.href, EVENT_ALERT_USER_ID: undefined, ALIAS_HOST: '127.0.0.1' }
    const ntp = `127.0.0.1:${times[1]!.address().port}`
    const place = 'containers'
    const found = await todos(env, { ntp, place, backups: await newDirectory('no-backup') })
    expect(found).toMatchObject({
      settings: expect.stringContaining('in .env, then docker compose up -d --wait.'),
      Postgres: expect.stringContaining('docker compose run --rm migrate'),
      clock: 'Set the clock of the machine on which the containers run by NTP.',
      backup: 'Take one: docker compose run --rm backup.',
    })
    const findings = await examine(readConfig({ ...well, ...env }), { ...options, place })
    const certificates = findings.filter(({ what }) => what.startsWith('certificate'))
    expect(certificates.map(({ found, todo }) => [found.split(':')[0], todo])).toEqual([
      ['not checked', undefined],
      ['not checked', undefined],
    ])
  })

  test('compares the clock with a time server', async () => {
    const ntp = `127.0.0.1:${times[1]!.address().port}`
    expect(await todos({}, { ntp })).toEqual({ clock: 'Set this machine’s clock by NTP.' })
  })

  test('asks for a backup when the last one is older than the console allows, and when there is none', async () => {
    const old = await newDirectory('old-backup')
    expect(await todos({}, { backups: old })).toEqual({ backup: 'Take one: bun run backup.' })
    writeFileSync(join(old, 'event.jsonl.zst'), '')
    const taken = (agoMs: number) => utimesSync(join(old, 'event.jsonl.zst'), 0, (Date.now() - agoMs) / 1_000)
    taken(OLD_BACKUP_MS - 60_000)
    expect(await todos({}, { backups: ['./none', old] })).toEqual({})
    taken(OLD_BACKUP_MS + 60_000)
    expect(await todos({}, { backups: old })).toEqual({ backup: 'Take one: bun run backup.' })
    rmSync(old, { recursive: true })
  })

  test('names what an event needs that is not set', async () => {
    const env = { EVENT_ALERT_USER_ID: undefined }
    expect((await todos(env)).settings).toContain('EVENT_ALERT_USER_ID')
  })

  test('says when an SOS would reach nobody', async () => {
    const nobody = expect.stringContaining('An SOS would reach nobody but an open console.')
    for (const env of [
      { EVENT_PUSH_PUBLIC_KEY: undefined },
      { EVENT_ALERT_USER_ID: 'U1123456789abcdef0123456789abcdef' },
    ])
      expect(await todos(env)).toEqual({ SOS: nobody })
  })

  test('names a palanquin that no device moves', async () => {
    const sql = postgres(database.url, { max: 1 })
    const [app, claim] = ['w-5hk3q7d2m9x0c4v8b1n6r2t7ye', 'U1123456789abcdef0123456789abcdef']
    const tracker = '11111111-0000-4000-8000-000000000000'
    const foundOf = async (userId: string, named: string | null, status = 'active') => {
      await sql`DELETE FROM pilgrims`
      await sql`
        INSERT INTO pilgrims (user_id, palanquin, palanquin_tracker, participant_status, created_at, updated_at)
        VALUES (${userId}, true, ${named}, ${status}, now(), now())`
      const findings = await examine(readConfig({ ...well, EVENT_IDENTITY: 'open' }), options)
      const { found, todo } = findings.find(({ what }) => what === 'palanquin')!
      return [found, todo === undefined]
    }
    const unbound = ['named, and no device moves it', false]
    expect(await foundOf(app, null)).toEqual(['a phone', true])
    expect(await foundOf(app, null, 'withdrawn')).toEqual(unbound)
    expect(await foundOf(claim, null)).toEqual(unbound)
    expect(await foundOf(claim, tracker)).toEqual(unbound)
    await sql`INSERT INTO trackers (id, user_id, key_hash, created_at) VALUES (${tracker}, ${claim}, 'k', now())`
    expect(await foundOf(claim, tracker)).toEqual(['a tracker', true])
    for (const table of ['trackers', 'pilgrims']) await sql.unsafe(`DELETE FROM ${table}`)
    await sql.end()
  })

  test('compares the webhook that LINE calls', async () => {
    const line = startLineServer()
    const found = await todos({ ...lineSettings(line), EVENT_PUBLIC_URL: 'https://walk.example' })
    expect(found.LINE).toBe(
      "Register https://walk.example/api/event/webhook as the webhook in LINE's console.",
    )
    await line.stop()
  })

  test('says what open identity does not protect, and wants LINE’s where there is a bot', async () => {
    const identityOf = async (env: Environment) =>
      (await examine(readConfig({ ...well, ...env }), options)).find(({ what }) => what === 'identity')!
    expect(await identityOf({ EVENT_IDENTITY: 'open' })).toEqual({
      what: 'identity',
      found: 'open: whoever knows a LINE id can write in its name and find out where its pilgrim is',
    })
    expect((await identityOf({ LINE_CHANNEL_ACCESS_TOKEN: 'x' })).todo).toContain('Set EVENT_IDENTITY=line')
    const line = { EVENT_IDENTITY: 'line', LINE_LOGIN_CHANNEL_ID: '1', LINE_CHANNEL_ACCESS_TOKEN: 'x' }
    expect((await identityOf(line)).todo).toBeUndefined()
  })

  /**
   * The command's certificate line and exit code, for a server whose certificate expires in this many days.
   */
  async function certificateLine(days: number, isTrusted: boolean) {
    const server = await startTlsServer(days + 0.5)
    const ca = join(directory, 'ca.pem')
    writeFileSync(ca, server.cert)
    const command = [process.execPath, join(import.meta.dir, '../../services/admin/doctor.ts')]
    const child = Bun.spawn([...command, '--ntp', '', '--backups', directory], {
      env: {
        ...(well as Record<string, string>),
        EVENT_PUBLIC_URL: `https://localhost:${server.port}`,
        ...(isTrusted && { NODE_EXTRA_CA_CERTS: ca }),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = (await new Response(child.stdout).text()).split('\n')
    server.stop()
    const at = lines.findIndex((line) => line.includes('certificate of localhost'))
    return { code: await child.exited, line: lines[at], todo: lines[at + 1]!.trim(), last: lines.at(-2) }
  }

  test('prints when a certificate ends, two weeks before that what to do, and whether phones trust it', async () => {
    expect(await certificateLine(90, true)).toMatchObject({
      code: 0,
      line: 'ok  certificate of localhost: 90 days left',
      last: 'Nothing to do.',
    })
    expect(await certificateLine(13, true)).toMatchObject({
      code: 1,
      line: 'DO  certificate of localhost: 13 days left',
      todo: 'Look at the log of Caddy why the certificate is not renewed, and renew it.',
      last: '1 to do.',
    })
    const untrusted = await certificateLine(90, false)
    expect(untrusted).toMatchObject({ code: 1, last: '1 to do.' })
    expect(untrusted.line).toContain('phones do not trust it')
  })

  test('connects to both public hosts as a phone does', async () => {
    const env = { ...well, EVENT_PUBLIC_URL: `https://localhost:${freePort()}`, ALIAS_HOST: '127.0.0.1' }
    const findings = await examine(readConfig(env), options)
    const certificates = findings.filter(({ what }) => what.startsWith('certificate'))
    expect(certificates.map(({ what }) => what)).toEqual([
      'certificate of localhost',
      'certificate of 127.0.0.1',
    ])
    for (const { todo } of certificates) expect(todo).toContain('the port is open')
  })
})
