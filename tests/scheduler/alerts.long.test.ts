/** The scheduler's alert watch: the owner gets an alert about the database when only the scheduler still runs. */
import { expect, test } from 'bun:test'
import { createScheduler } from '#services/scheduler/app.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts } from '#shared/service/service.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const OWNER = lineUser(0xb055)

describeOnServers('the scheduler', () => {
  test('alerts the owner that the database does not answer', async () => {
    const line = startLineServer()
    const log = createLog({}, () => undefined)
    const config = readConfig({
      ...lineSettings(line),
      EVENT_ALERT_USER_ID: OWNER,
      EVENT_DATA_DIR: await newDirectory('scheduler-alerts'),
      DATABASE_URL: `postgres://postgres@127.0.0.1:${freePort()}/postgres`,
      REDIS_URL: await testRedisUrl(),
    })
    const ports = await openPorts(config, log, Date.now)
    const scheduler = createScheduler(
      contextOf(ports, 'scheduler', log, { tls: false, addressOf: () => 'test' }),
    )
    await scheduler.start()
    const [alert] = await until(() => line.sent.length > 0 && line.sent, 'the alert', {
      timeoutMs: 45_000,
      everyMs: 100,
    })
    expect(alert).toMatchObject({ kind: 'push', to: [OWNER] })
    expect(alert!.messages[0]!.text).toContain('The database does not answer')
    await scheduler.stop()
    await ports.close()
    await line.stop()
  }, 90_000)
})
