/**
 * The scheduler's alert watch: the owner gets an alert about the database if only the scheduler still runs.
 */
import { expect, test } from 'bun:test'
import { createScheduler } from '#services/scheduler/app.ts'
import { testRedisUrl } from '#tests/helpers/database.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

const OWNER = lineUser(0xb055)

describeOnServers('the scheduler', () => {
  test('alerts the owner that the database does not answer', async () => {
    const line = startLineServer()
    const parts = await openServiceParts({
      ...lineSettings(line),
      EVENT_ALERT_USER_ID: OWNER,
      DATABASE_URL: `postgres://postgres@127.0.0.1:${freePort()}/postgres`,
      REDIS_URL: await testRedisUrl(),
    })
    const scheduler = createScheduler(parts.context())
    await scheduler.start()
    const [alert] = await until(() => line.sent.length > 0 && line.sent, 'the alert', {
      timeoutMs: 45_000,
      everyMs: 100,
    })
    expect(alert).toMatchObject({ kind: 'push', to: [OWNER] })
    expect(alert!.messages[0]!.text).toContain('The database does not answer')
    await scheduler.stop()
    await parts.close()
    await line.stop()
  }, 90_000)
})
