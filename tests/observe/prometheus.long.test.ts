/**
 * The alert rules in Prometheus: with examples, and on a running service whose parts are stopped as in the
 * runbook.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { OBSERVED, rules } from '#proxy/observe/write.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { newDirectory, runToEnd, type Server, startServer } from '#tests/helpers/process.ts'
import { commandPath, ensurePrograms, PROMETHEUS } from '#tests/helpers/programs.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { checkIn, healthOf, newPilgrimId, PLACE, readAs, syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const ALERT_MS = 60_000
/**
 * Metrics without series before the first failure, or without LINE. Their labels come from the table by their
 * types.
 */
const SILENT = /^event_(failed_items|line_calls|web_push_calls)_total/

interface Case {
  readonly alert: string
  /** Values by series, in promtool's notation, one a minute. */
  readonly series: Readonly<Record<string, string>>
  /** Minutes at which the alert does not fire, and fires. */
  readonly quiet: number
  readonly fires: number
}

const LOST = 'event_ledger_points{state="lost",service="scheduler"}'
const UP = Object.fromEntries(ServiceName.options.map((name) => [`up{job="${name}"}`, '1x60']))
const CASES: readonly Case[] = [
  { alert: 'PointsLost', series: { [LOST]: '0x10 7x60' }, quiet: 10, fires: 11 },
  {
    alert: 'DeadLetters',
    series: { 'event_ledger_points{state="deadLetter"}': '0x10 2x60' },
    quiet: 11,
    fires: 13,
  },
  { alert: 'FlushLate', series: { event_last_flush_timestamp_seconds: '0x60' }, quiet: 30, fires: 32 },
  { alert: 'BackupOld', series: { event_backup_due_timestamp_seconds: '600x60' }, quiet: 10, fires: 12 },
  { alert: 'JournalWaits', series: { event_journal_check_ins: '0x10 3x60' }, quiet: 12, fires: 14 },
  {
    alert: 'EventsWait',
    series: { 'event_outbox_age_seconds{subscriber="scheduler.flush"}': '0+60x60' },
    quiet: 6,
    fires: 9,
  },
  { alert: 'RedisFull', series: { event_kv_memory_ratio: '0.5x10 0.8x60' }, quiet: 11, fires: 13 },
  { alert: 'DiskFull', series: { event_disk_free_bytes: '1e9x10 5e8x60' }, quiet: 11, fires: 13 },
  { alert: 'LoopStalls', series: { event_loop_stall_seconds: '0.1x10 0.4x60' }, quiet: 11, fires: 15 },
  {
    alert: 'ServiceDown',
    series: { ...UP, 'up{job="admin",instance="a"}': '1x10 0x60' },
    quiet: 11,
    fires: 13,
  },
  // As in containers, where a stopped service has no address.
  { alert: 'ServiceDown', series: { ...UP, 'up{job="admin"}': '1x10 stale' }, quiet: 11, fires: 17 },
  {
    alert: 'NobodyArrives',
    series: { 'event_http_request_duration_seconds_count{route="/"}': '0+120x20 2400x60' },
    quiet: 20,
    fires: 26,
  },
]

/** promtool's tests of the rules. */
const examples = () => ({
  rule_files: ['rules.json'],
  evaluation_interval: '1m',
  tests: CASES.map(({ alert, series, quiet, fires }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: `${quiet}m`,
        exp_samples: [{ labels: '{}', value: 0 }],
      },
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: `${fires}m`,
        exp_samples: [{ labels: '{}', value: 1 }],
      },
    ],
  })),
})

describeOnServers('Prometheus', () => {
  let dir: string
  let stack: OwnedTestStack
  let prometheus: Server

  beforeAll(async () => {
    await ensurePrograms([PROMETHEUS])
    dir = await newDirectory('prometheus')
    await Bun.write(join(dir, 'rules.json'), JSON.stringify(rules()))
    stack = await openOwnedTestStack({ apart: [] })
    prometheus = await startPrometheus(dir, stack)
  }, STACK_TIMEOUT_MS + 180_000)
  afterAll(async () => {
    await prometheus?.close()
    await stack?.close()
  })

  const query = async (expression: string): Promise<{ readonly metric: Record<string, string> }[]> => {
    const url = `${prometheus.url}/api/v1/query?query=${encodeURIComponent(expression)}`
    const answer = (await (await fetch(url)).json()) as { data?: { result: [] }; error?: string }
    if (answer.data === undefined) throw new Error(`${expression}: ${answer.error}`)
    return answer.data.result
  }
  const firing = async (): Promise<string[]> =>
    (await query('ALERTS{alertstate="firing"}')).map(({ metric }) => metric.alertname!)
  const fires = (name: string) =>
    until(async () => (await firing()).includes(name), `${name} to fire`, { timeoutMs: ALERT_MS })
  const ends = (name: string) =>
    until(async () => !(await firing()).includes(name), `${name} to end`, { timeoutMs: ALERT_MS })
  /** Stops Redis, with a check-in that goes to the journal and a track that is rejected. */
  const stopRedis = async (): Promise<void> => {
    await stack.redis.stop()
    expect((await checkIn(stack, newPilgrimId())).status).toBe(202)
    expect((await syncTrack(stack, newPilgrimId(), [{ ...PLACE, timestamp: Date.now() }])).status).toBe(503)
  }
  const redisCli = (...command: string[]) =>
    runToEnd([commandPath('redis-cli'), '-p', String(stack.redis.port), ...command])

  test('takes the rules, and fires for what is lost, late, full or down, and no sooner', async () => {
    await Bun.write(join(dir, 'examples.json'), JSON.stringify(examples()))
    await runToEnd([commandPath('promtool'), 'check', 'rules', join(dir, 'rules.json')])
    await runToEnd([commandPath('promtool'), 'test', 'rules', join(dir, 'examples.json')])
  })

  test('Redis is down: the alert, check-ins in the journal, and all is well after its start', async () => {
    await stopRedis()
    await fires('RedisDown')
    await fires('JournalWaits')
    await stack.redis.restart()
    await ends('RedisDown')
    await ends('JournalWaits')
  }, 240_000)

  test('Redis is full: more memory ends the alert', async () => {
    await redisCli('CONFIG', 'SET', 'maxmemory', String(await usedMemory(stack.redis.port)))
    await fires('RedisFull')
    await redisCli('CONFIG', 'SET', 'maxmemory', '2gb')
    await ends('RedisFull')
  }, 240_000)

  test.each([
    ['DatabaseDown', () => stack.postgres],
    ['NatsDown', () => stack.nats],
    ['ServiceDown', () => stack.service('tracking')],
  ] as const)(
    '%s, until the part is started again',
    async (alert, part) => {
      await part().stop('SIGKILL')
      await fires(alert)
      await part().restart()
      await ends(alert)
    },
    240_000,
  )

  test('finds series for every selector of the alerts and the screens', async () => {
    await stopRedis()
    await stack.redis.restart()
    await until(async () => (await healthOf(stack)).status === 'ok', 'health', { timeoutMs: ALERT_MS })
    const stream = await readAs(stack, 'owner', 'admin/stream')
    const pilgrim = newPilgrimId()
    expect((await checkIn(stack, pilgrim)).status).toBe(202)
    const card = (): Promise<Response> =>
      stack.fetch('/api/event/og-image', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ user_id: pilgrim }),
      })
    await until(async () => (await card()).ok, 'a card', { timeoutMs: ALERT_MS })
    // Older than any file served by Caddy.
    expect((await stack.fetch('/api/event/map?since=1')).status).toBe(200)
    const queries = Object.values(OBSERVED).flatMap(({ alerts = [], panels = [] }) => [
      ...alerts.map(({ when }) => when),
      ...panels.map((panel) => panel.query),
    ])
    const selectors = new Set(queries.flatMap((one) => one.match(/\b(?:event_\w+|up)\b(?:{[^}]*})?/g) ?? []))
    expect(selectors.size).toBeGreaterThan(30)
    for (const selector of selectors)
      if (!SILENT.test(selector))
        await until(async () => (await query(selector)).length > 0, `series of ${selector}`, {
          timeoutMs: ALERT_MS,
        })
    // Every query with series returns a figure.
    for (const one of queries) await query(one)
    await stream.body?.cancel()
  }, 240_000)
})

/** Prometheus for a stack, scraped every five seconds; alerts fire without delay. */
async function startPrometheus(dir: string, stack: OwnedTestStack): Promise<Server> {
  const port = freePort()
  const [group] = rules().groups
  await Bun.write(
    join(dir, 'at-once.json'),
    JSON.stringify({ groups: [{ ...group, rules: group!.rules.map((rule) => ({ ...rule, for: '0s' })) }] }),
  )
  const config = {
    global: { scrape_interval: '5s', scrape_timeout: '5s', evaluation_interval: '1s' },
    rule_files: [join(dir, 'at-once.json')],
    scrape_configs: ServiceName.options.map((name) => ({
      job_name: name,
      static_configs: [{ targets: stack.urlsOf(name).map((url) => new URL(url).host) }],
    })),
  }
  await Bun.write(join(dir, 'prometheus.json'), JSON.stringify(config))
  return startServer({
    name: 'prometheus',
    command: [
      commandPath('prometheus'),
      `--config.file=${join(dir, 'prometheus.json')}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    dir,
    port,
    url: `http://127.0.0.1:${port}`,
    ready: async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
  })
}

/** Bytes that Redis uses. */
async function usedMemory(port: number): Promise<number> {
  const cli = Bun.spawn([commandPath('redis-cli'), '-p', String(port), 'INFO', 'memory'], { stdout: 'pipe' })
  return Number(/^used_memory:(\d+)/m.exec(await new Response(cli.stdout).text())![1])
}
