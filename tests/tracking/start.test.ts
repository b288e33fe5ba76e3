/** A starting replica accepts check-ins before it has loaded all live positions. */
import { expect, test } from 'bun:test'
import { createTracking } from '#services/tracking/app.ts'
import { openTestDatabase } from '#tests/helpers/database.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

test.skipIf(embeddedOnly)(
  'check-ins are accepted while the positions are read; the map is refused until then, and not later',
  async () => {
    const database = await openTestDatabase()
    const parts = await openServiceParts({ DATABASE_URL: database.url })
    const { kv } = parts.ports
    const read = Promise.withResolvers<void>()
    const moved: typeof kv.moved = async (...asked) => {
      await read.promise
      return kv.moved(...asked)
    }
    const service = createTracking({ ...parts.context(), kv: { ...kv, moved } })
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
      await parts.close()
      await database.drop()
    }
  },
)
