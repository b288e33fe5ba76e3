/**
 * An upgrade from an older release, and a rollback: data acknowledged by the older release are in the newer
 * one, and the older one's backup can be restored by both. The older release comes from this repository's
 * history. The next release is a copy of this one with one more migration.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cp, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Environment } from '#shared/runtime/config/config.ts'
import { type Ledger, ledgerEndpoint } from '#shared/contracts/ledger.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { startEmbedded } from '#tests/helpers/embedded.ts'
import { addNextMigration } from '#tests/helpers/next-release.ts'
import { MINUTE, post, walk } from '#tests/helpers/pilgrim.ts'
import { newDirectory, runToEnd, type Server } from '#tests/helpers/process.ts'
import { startNats, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { admin, type Asked, checkIn, readAs, SETTINGS, syncTrack } from '#tests/helpers/test-stack.ts'
import { openTestStackOn, startService } from '#tests/helpers/test-stack-real.ts'
import { until } from '#tests/helpers/wait.ts'

/** The older release. */
const OLDER = '7dfc3231e670b0fa80f37556bc5a02027d33d631'
const ROOT = join(import.meta.dir, '../..')
const PILGRIMS = 40
const TRACK = 12

const LIMITS: Environment = {
  ...SETTINGS,
  EVENT_LIMIT_CHECKIN: '1000000',
  EVENT_LIMIT_SYNC: '1000000',
  EVENT_LIMIT_ADMIN: '1000000',
}

const idOf = (i: number): string => `upgrade-${i}`

async function ledgerOf(asked: Asked): Promise<Ledger> {
  const answer = await asked.fetch(ledgerEndpoint.path, { headers: admin('manager') })
  if (!answer.ok) throw new Error(`the ledger answered ${answer.status}: ${await answer.text()}`)
  return ((await answer.json()) as { data: Ledger }).data
}

/** Waits until `points` accepted points are stored and none is in flight. @returns the ledger then */
async function stored(asked: Asked, points: number): Promise<Ledger> {
  let ledger = await ledgerOf(asked)
  const isStored = async () => {
    ledger = await ledgerOf(asked)
    return ledger.stored >= points && ledger.pending + ledger.journaled + ledger.in_flight === 0
  }
  await until(isStored, `${points} points to be stored`, { timeoutMs: 60_000, everyMs: 200 })
  return ledger
}

/** Pilgrims with a name, a track and a check-in each. @returns the number of acknowledged points */
async function walkers(asked: Asked, now: number): Promise<number> {
  let points = 0
  for (let i = 0; i < PILGRIMS; i++) {
    const user_id = idOf(i)
    const named = await post(asked, 'user/sync', {
      user_id,
      display_name: `香客 ${i}`,
      transport: { car: 2 },
    })
    expect(named.status).toBe(200)
    const synced = await syncTrack(asked, user_id, walk(TRACK, now - 5 * MINUTE))
    expect(synced.status).toBe(200)
    const checkedIn = await checkIn(asked, user_id, { timestamp: now - i * 1000 })
    expect(checkedIn.status).toBeLessThan(300)
    points += TRACK + 1
  }
  return points
}

/** What pilgrims and operators read about their walks, without fields added by later releases. */
async function figures(asked: Asked): Promise<unknown[]> {
  const read = async (i: number) => {
    const answer = await readAs(asked, 'owner', `user/${idOf(i)}`)
    const { data } = (await answer.json()) as { data: Record<string, unknown> }
    return [
      answer.status,
      data.display_name,
      data.level,
      data.km,
      data.checkins,
      data.carbon_kg,
      data.carbon_saved_kg,
    ]
  }
  return Promise.all(Array.from({ length: PILGRIMS }, (_, i) => read(i)))
}

/** Continuous check-ins until `end`. Like a phone, a walker repeats unanswered requests. */
function checkInAllTheTime(asked: Asked) {
  const count = { answered: 0, repeated: 0 }
  let ended = false
  const walker = async (n: number) => {
    while (!ended) {
      const timestamp = Date.now()
      while (!(await checkIn(asked, idOf(n), { timestamp }).catch(() => null))?.ok) {
        count.repeated++
        await Bun.sleep(100)
      }
      count.answered++
      await Bun.sleep(20)
    }
  }
  const walkers = Promise.all(Array.from({ length: 8 }, (_, n) => walker(n)))
  return Object.assign(count, {
    async end() {
      ended = true
      await walkers
      return count
    },
  })
}

/** A next release: this tree, with a migration that this release can still read. */
async function makeNextRelease(): Promise<string> {
  const root = await newDirectory('next')
  for (const name of ['package.json', 'tsconfig.json', 'bunfig.toml', 'shared', 'services', 'proxy'])
    await cp(join(ROOT, name), join(root, name), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  await addNextMigration(root)
  return root
}

const command = (root: string, env: Environment, ...args: string[]): Promise<void> => {
  const settings = Object.entries({ ...LIMITS, ...env }).map(([name, value]) => `${name}=${value}`)
  return runToEnd(['env', '-C', root, ...settings, process.execPath, ...args])
}

let older: string
beforeAll(async () => {
  older = await newDirectory('older')
  await runToEnd(['git', '-C', ROOT, 'cat-file', '-e', `${OLDER}^{commit}`]).catch((cause: unknown) => {
    throw new Error('This clone lacks the older release; type: git fetch --unshallow', { cause })
  })
  await runToEnd(['sh', '-c', `git -C '${ROOT}' archive ${OLDER} | tar -x -C '${older}'`])
  await runToEnd(['env', '-C', older, process.execPath, 'install', '--frozen-lockfile'])
}, 180_000)
afterAll(() => rm(older, { recursive: true, force: true }))

describe('embedded', () => {
  test('opens the data of a killed older release, and rolls back by its backup', async () => {
    const backups = await newDirectory('backups')
    const file = join(backups, 'before.jsonl.zst')
    let run = await startEmbedded(LIMITS, older)
    const data = { EVENT_DATA_DIR: run.dataDir }
    const settings = { ...LIMITS, ...data }
    // The releases run one after the other.
    const asked: Asked = { fetch: (path, init) => run.fetch(path, init) }

    const before = await walkers(asked, Date.now() - 10 * MINUTE)
    await stored(asked, before)
    const figuresBefore = await figures(asked)
    await run.stop()
    await command(older, data, 'services/admin/backup.ts', '--to', file)
    run = await startEmbedded(settings, older)
    // These are in the buffer or just stored when it is killed.
    for (let i = 0; i < PILGRIMS; i++)
      expect((await checkIn(asked, idOf(i), { timestamp: Date.now() })).ok).toBeTrue()
    await run.stop('SIGKILL')

    run = await startEmbedded(settings)
    expect(await stored(asked, before + PILGRIMS)).toMatchObject({ stored: before + PILGRIMS, lost: 0 })
    for (let i = 0; i < PILGRIMS; i++)
      expect((await checkIn(asked, idOf(i), { timestamp: Date.now() })).ok).toBeTrue()
    expect(await stored(asked, before + 2 * PILGRIMS)).toMatchObject({
      stored: before + 2 * PILGRIMS,
      lost: 0,
    })
    await run.stop()

    // This release also restores the older one's backup.
    for (const root of [ROOT, older]) {
      await command(root, data, 'services/admin/restore.ts', '--from', file, '--replace')
      run = await startEmbedded(settings, root)
      expect(await stored(asked, before)).toMatchObject({ stored: before, lost: 0 })
      expect(await figures(asked)).toEqual(figuresBefore)
      await run.stop()
    }
    run.remove()
    await rm(backups, { recursive: true })
  }, 240_000)
})

describeOnServers('real', () => {
  test('is upgraded under load, each process after the other, and rolls back', async () => {
    const backups = await newDirectory('backups')
    const file = join(backups, 'before.jsonl.zst')
    const [postgres, redis, nats] = await Promise.all([startPostgres(), startRedis(), startNats()])
    const stores = { databaseUrl: postgres.url, redisUrl: redis.url, natsUrl: nats.url }
    const env: Environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, NATS_URL: nats.url }
    await command(older, env, 'shared/db/migrate.ts')
    const open = (root: string) =>
      openTestStackOn({ root, settings: LIMITS }, { ...stores, close: () => Promise.resolve() })
    let stack = await open(older)
    // The older release's responses are not checked against this release's contracts.
    const asked: Asked = {
      fetch: (path, init) =>
        fetch(`https://localhost:${stack.port}${path}`, { ...init, tls: { ca: stack.ca } }),
    }
    const data = { ...env, EVENT_DATA_DIR: stack.settings.EVENT_DATA_DIR! }

    const before = await walkers(asked, Date.now() - 10 * MINUTE)
    await stored(asked, before)
    const figuresBefore = await figures(asked)
    await command(older, data, 'services/admin/backup.ts', '--to', file)

    const load = checkInAllTheTime(asked)

    await command(ROOT, env, 'shared/stores/db/migrate.ts')
    const newer: Server[] = []
    const upgrade = async (name: ServiceName, replica = 0) => {
      const process = stack.service(name, replica)
      await process.stop('SIGTERM')
      newer.push(await startService(name, stack.settings, ROOT, process.port))
    }
    await upgrade('scheduler')
    await upgrade('tracking')
    // The second replica dies while Redis does not respond: the newer release finds its journal.
    redis.pause()
    const answeredBefore = load.answered
    await until(() => load.answered > answeredBefore + 50, 'check-ins into journals')
    await stack.service('tracking', 1).stop('SIGKILL')
    redis.resume()
    newer.push(await startService('tracking', stack.settings, ROOT, stack.service('tracking', 1).port))
    for (const name of ['admin', 'survey-profile', 'feedback-media', 'line-bot'] as const) await upgrade(name)

    const { answered, repeated } = await load.end()
    const ledger = await stored(asked, before + answered)
    expect(ledger).toMatchObject({ stored: before + answered, lost: 0 })
    console.log(`${answered} check-ins answered during the upgrade, ${repeated} sent again`)

    await Promise.all(newer.map((server) => server.close()))
    await stack.close()
    await command(older, data, 'services/admin/restore.ts', '--from', file, '--replace')
    stack = await open(older)
    expect(await stored(asked, before)).toMatchObject({ stored: before, lost: 0 })
    expect(await figures(asked)).toEqual(figuresBefore)

    await stack.close()
    await Promise.all([postgres, redis, nats].map((server) => server.close()))
    await rm(backups, { recursive: true })
  }, 300_000)

  test('is upgraded to the next release and back under load, without a restore', async () => {
    const next = await makeNextRelease()
    const [postgres, redis, nats] = await Promise.all([startPostgres(), startRedis(), startNats()])
    const env: Environment = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, NATS_URL: nats.url }
    await command(ROOT, env, 'shared/stores/db/migrate.ts')
    const stack = await openTestStackOn(
      { settings: LIMITS },
      {
        databaseUrl: postgres.url,
        redisUrl: redis.url,
        natsUrl: nats.url,
        close: () => Promise.resolve(),
      },
    )
    const before = await walkers(stack, Date.now() - 10 * MINUTE)
    await stored(stack, before)
    const figuresBefore = await figures(stack)

    const running = new Map<string, Server>()
    const replicas = [...ServiceName.options.map((name) => [name, 0] as const), ['tracking', 1] as const]
    for (const [name, replica] of replicas) running.set(name + replica, stack.service(name, replica))
    /** Migrates with a release, then replaces each process. */
    const changeTo = async (root: string) => {
      await command(root, env, 'shared/stores/db/migrate.ts')
      for (const [name, replica] of replicas) {
        const process = running.get(name + replica)!
        await process.stop('SIGTERM')
        running.set(name + replica, await startService(name, stack.settings, root, process.port))
      }
    }
    const load = checkInAllTheTime(stack)
    await changeTo(next)
    // Rolled back, and upgraded again.
    await changeTo(ROOT)
    await changeTo(next)
    const { answered, repeated } = await load.end()
    expect(await stored(stack, before + answered)).toMatchObject({ stored: before + answered, lost: 0 })
    expect((await figures(stack)).slice(8)).toEqual(figuresBefore.slice(8))
    console.log(`${answered} check-ins answered during the way there, back and there, ${repeated} sent again`)

    await Promise.all([...running.values()].map((server) => server.close()))
    await stack.close()
    await Promise.all([postgres, redis, nats].map((server) => server.close()))
    await rm(next, { recursive: true })
  }, 300_000)
})
