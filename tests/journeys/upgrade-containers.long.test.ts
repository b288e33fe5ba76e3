/**
 * An upgrade of containers, the way back, and a release that does not start, by the handbook's own commands and under
 * load. It needs a Docker engine with compose, and the images of docker-compose.yml or a registry to pull them from.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Ledger, ledgerEndpoint } from '#shared/contracts/ledger.ts'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { commandsOf } from '#tests/helpers/handbook-commands.ts'
import { addNextMigration } from '#tests/helpers/next-release.ts'
import { newDirectory, ROOT, runCommand } from '#tests/helpers/process.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { type Asked, admin, checkIn, readAs, SETTINGS } from '#tests/helpers/test-stack.ts'
import { slower } from '#tests/helpers/time-limits.ts'
import { until } from '#tests/helpers/wait.ts'

const docker = Bun.which('docker')
const hasEngine =
  docker !== null &&
  [['version'], ['compose', 'version']].every((args) => Bun.spawnSync([docker, ...args]).success)

/** Between two check-ins (ms). */
const EVERY_MS = 200
const LONGEST_MS = 1_000

describe.skipIf(embeddedOnly || !hasEngine)('containers', () => {
  const project = `upgrade-${crypto.randomUUID().slice(0, 8)}`
  const port = freePort()
  const env = { ...cleanEnvironment(), COMPOSE_PROJECT_NAME: project }
  let dir = ''
  let asked: Asked
  let upgrade: string
  let giveUp: string

  /** Runs commands in the folder of docker-compose.yml. @throws with their output when one fails */
  async function run(commands: string, more: Record<string, string> = {}): Promise<string> {
    const shell = ['bash', '-euo', 'pipefail', '-c', commands]
    const { code, out, err } = await runCommand(shell, { cwd: dir, env: { ...env, ...more } })
    if (code !== 0) throw new Error(`${commands}\nfailed:\n${out}\n${err}`)
    return out.trim()
  }
  const commit = async (name: string) =>
    run(
      `git add --all && git -c user.name=t -c user.email=t@example.org commit -qm ${name} && git tag ${name}`,
    )
  const idOf = (service: string) => run(`docker compose ps -q ${service}`)
  const revision = (release: string) => run(`git rev-parse '${release}^{commit}'`)
  const install = async (release: string) =>
    run(upgrade.replace('<release>', release), { REVISION: await revision(release) })
  const health = async () => (await (await asked.fetch('/health')).json()) as { commit: string }

  async function ledger(): Promise<Ledger> {
    const answer = await asked.fetch(ledgerEndpoint.path, { headers: admin('manager') })
    return ((await answer.json()) as { data: Ledger }).data
  }

  /** Requests at fixed times, on kept and on new connections: check-ins, and a read of each other service. */
  function load() {
    const count = { answered: 0, longestMs: 0, refused: [] as string[] }
    let lastMs = performance.now()
    const send = async (name: string, request: () => Promise<Response>) => {
      const answer = await request().catch(String)
      if (typeof answer === 'string' || !answer.ok)
        count.refused.push(
          `${name} ${typeof answer === 'string' ? answer : `${answer.status} ${await answer.text()}`}`,
        )
      else if (name === 'check-in') {
        count.answered++
        count.longestMs = Math.max(count.longestMs, performance.now() - lastMs)
        lastMs = performance.now()
      }
    }
    const reads = {
      profile: () => readAs(asked, 'owner', 'user/phone-0'),
      feedback: () => asked.fetch('/api/event/feedback'),
      status: () => readAs(asked, 'volunteer', 'admin/status'),
      push: () => readAs(asked, 'owner', 'admin/notifications'),
    }
    const pending: Promise<void>[] = []
    let turn = 0
    const timer = setInterval(() => {
      const n = turn++
      pending.push(send('check-in', () => checkIn(asked, `phone-${n % 10}`, { timestamp: Date.now() })))
      const [name, read] = Object.entries(reads)[n % 4]!
      pending.push(send(name, read))
    }, EVERY_MS)
    return {
      async end() {
        clearInterval(timer)
        await Promise.all(pending)
        return { ...count, longestMs: Math.round(Math.max(count.longestMs, performance.now() - lastMs)) }
      },
    }
  }

  /** Runs `step` under load: no request is refused, check-ins are answered all the time, and each is stored once. */
  async function underLoad(name: string, step: () => Promise<unknown>): Promise<void> {
    const before = (await ledger()).stored
    const proxy = await idOf('caddy')
    const requests = load()
    const startedMs = performance.now()
    await step()
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    const { answered, longestMs, refused } = await requests.end()
    console.log(
      `${name}: ${seconds} s, ${answered} check-ins answered, at most ${longestMs} ms apart`,
      refused,
    )
    expect(refused).toEqual([])
    expect(longestMs).toBeLessThan(slower(LONGEST_MS))
    expect(await idOf('caddy')).toBe(proxy)
    await until(
      async () => {
        const now = await ledger()
        return now.stored >= before + answered && now.pending + now.journaled + now.in_flight === 0
      },
      'every point to be stored',
      { timeoutMs: 60_000, everyMs: 500 },
    )
    expect(await ledger()).toMatchObject({ stored: before + answered, lost: 0, dead_letter: 0 })
  }

  beforeAll(async () => {
    ;[upgrade, giveUp] = (await commandsOf('Upgrade and roll back')) as [string, string]
    dir = await newDirectory('containers')
    await run(`git -C '${ROOT}' ls-files -z | tar -C '${ROOT}' --null -T - -c | tar -x`)
    // The tag of the image is the machine's, and not this project's.
    await run(
      `sed -i 's/image: pilgrimage-event-tracking$/image: ${project}/' docker-compose.yml && git init -q`,
    )
    await commit('this')
    await addNextMigration(dir)
    await run(`sed -i 's/^\\timport headers$/\\theader X-Next yes\\n&/' Caddyfile`)
    await commit('next')
    await run(`git checkout -q this && echo 'throw new Error()' > services/line-bot/app.ts`)
    await commit('broken')
    await run(`git checkout -q this && echo .env >> .git/info/exclude`)
    const settings = {
      ...SETTINGS,
      PRIMARY_HOST: 'localhost',
      ALIAS_HOST: '127.0.0.1',
      HTTPS_PORT: String(port),
      EVENT_ENV: 'development',
      EVENT_IDENTITY: 'open',
      EVENT_LIMIT_CHECKIN: '1000000',
      EVENT_LIMIT_ADMIN: '1000000',
      POSTGRES_PASSWORD: 'postgres',
      REDIS_PASSWORD: 'redis',
      NATS_PASSWORD: 'nats',
    }
    await Bun.write(
      join(dir, '.env'),
      Object.entries(settings)
        .map((one) => `${one.join('=')}\n`)
        .join(''),
    )
    await run('docker compose up --build --wait', { REVISION: await revision('this') })
    await run('docker compose cp caddy:/data/caddy/pki/authorities/local/root.crt .')
    const ca = await Bun.file(join(dir, 'root.crt')).text()
    asked = {
      fetch: (path, init) => fetch(`https://localhost:${port}${path}`, { ...init, tls: { ca } }),
    }
    for (let n = 0; n < 10; n++) expect((await checkIn(asked, `phone-${n}`)).status).toBe(202)
    await until(async () => (await ledger()).stored === 10, 'the first points to be stored')
  }, 600_000)
  afterAll(() => run(`docker compose down --volumes --timeout 5 && docker image rm ${project}`), 120_000)

  test('are upgraded and rolled back, and no phone is refused', async () => {
    const postgres = await idOf('postgres')
    for (const release of ['next', 'this']) {
      await underLoad(release, () => install(release))
      expect((await health()).commit).toBe(await revision(release))
      expect((await asked.fetch('/health')).headers.get('X-Next')).toBe(release === 'next' ? 'yes' : null)
      expect(await idOf('postgres')).toBe(postgres)
      expect((await idOf('tracking')).split('\n')).toHaveLength(3)
    }
  }, 600_000)

  test('keep the release that runs when the next one does not start', async () => {
    const services = /^services=.*$/m.exec(upgrade)![0]
    const old = await run(`${services}; docker compose ps -q $services`)
    await underLoad('broken', async () => {
      await rejection(install('broken'))
      await run(giveUp.replace('<old release>', 'this'))
    })
    expect(await run(`${services}; docker compose ps -q $services`)).toBe(old)
    expect((await health()).commit).toBe(await revision('this'))
  }, 600_000)
})
