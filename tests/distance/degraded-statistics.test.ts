/** Statistics while the kv is unavailable: stored points only, and marked so. */
import { expect, test } from 'bun:test'
import { type Pilgrim, readFigures } from '#services/line-bot/bot/load-pilgrim-context.ts'
import { readPilgrims, readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import { openRedisKv } from '#shared/stores/kv/kv.redis.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { describeFlushHarness, NOON } from '#tests/scheduler/flush-harness.ts'
import { point, walk } from '#tests/scheduler/walks.ts'

describeFlushHarness('statistics without the kv', (harness) => {
  test('are those of stored points, marked; a pilgrim without stored data is null', async () => {
    const stores = { db: harness.db, kv: harness.kv, calendar: harness.calendar }
    await harness.buffer('anna', walk(30))
    await harness.flush()
    const stored = (await readPilgrims(stores, ['anna'])).get('anna')
    await harness.buffer('anna', [point({ kind: 'c', sentMs: NOON + 3_600_000 })])
    await harness.buffer('ben', walk(3))
    const ids = ['anna', 'ben', 'nobody']
    const whole = await readPilgrimsDegraded(stores, ids)
    expect(whole).toEqual(await readPilgrims(stores, ids))
    expect([...whole].map(([id, pilgrim]) => [id, pilgrim?.pending])).toEqual([
      ['anna', 1],
      ['ben', 3],
    ])
    const away = await openRedisKv({ url: 'redis://127.0.0.1:1', partitions: 1, onError: () => undefined })
    try {
      const found = await readPilgrimsDegraded({ ...stores, kv: away }, ids)
      expect(found.get('anna')).toEqual({ ...stored!, pending: null })
      expect([found.get('ben'), found.get('nobody')]).toEqual([null, null])
      // The figures of the bot's answer.
      const context = { ...stores, kv: away } as unknown as ServiceContext
      for (const userId of ids) {
        const pilgrim = { userId, transport: {}, consumption: {} } as unknown as Pilgrim
        expect(await readFigures(context, pilgrim)).toMatchObject({ checkins: 0, incomplete: true })
      }
    } finally {
      await away.close()
    }
  })
})
