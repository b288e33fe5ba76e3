/** A replica that starts accepts check-ins before it knows all live positions. */
import { expect, test } from 'bun:test'
import { createTracking } from '#services/tracking/app.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts } from '#shared/service/service.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

test.skipIf(embeddedOnly)(
  'check-ins are accepted while the positions are read; the map is refused until then, and not later',
  async () => {
    const log = createLog({}, () => undefined)
    const database = await openTestDatabase()
    const config = readConfig({ EVENT_DATA_DIR: await newDirectory('start'), DATABASE_URL: database.url })
    const ports = await openPorts(config, log, Date.now)
    const context = contextOf(ports, 'tracking', log, { tls: false, addressOf: () => '192.0.2.1' })
    const read = Promise.withResolvers<void>()
    const moved: typeof ports.kv.moved = async (...asked) => {
      await read.promise
      return ports.kv.moved(...asked)
    }
    const service = createTracking({ ...context, kv: { ...ports.kv, moved } })
    const ask = (path: string, init?: RequestInit) =>
      service.fetch(new Request(`http://event.test${path}`, init))
    try {
      await service.start()
      const body = JSON.stringify({ user_id: 'anna', lat: 24, lng: 120.6 })
      expect((await ask('/api/event/checkin', { method: 'POST', body })).status).toBe(202)
      const refused = await Promise.all([ask('/api/event/data'), ask('/api/event/map')])
      expect(refused.map(({ status }) => status)).toEqual([503, 503])
      read.resolve()
      await until(
        async () => (await ask('/api/event/data')).ok && (await ask('/api/event/map')).ok,
        'both maps to be answered',
      )
    } finally {
      read.resolve()
      await service.stop()
      await ports.close()
      await database.drop()
    }
  },
)
