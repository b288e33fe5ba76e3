/** A pilgrim's figures in the bot's answers. */
import { expect, test } from 'bun:test'
import { type Pilgrim, readFigures } from '#services/line-bot/bot/load-pilgrim-context.ts'
import { readPilgrims } from '#shared/points/totals/pilgrim-statistics.ts'
import { carbonMg } from '#shared/core/rules/carbon.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { describeFlushOnServers, NOON } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'

const KM = 1e6
/** Figures have three decimals. */
const kg = (mg: number): number => Math.round(mg / 1e3) / 1e3

describeFlushOnServers('the figures of the bot', (harness) => {
  test('include what was walked and ridden, and what the pilgrim reports besides', async () => {
    await harness.buffer('anna', walk(30, NOON, { mode: 'bus' }))
    await harness.flush()
    const stores = { db: harness.db, kv: harness.kv, calendar: harness.calendar }
    const { distanceMm, carbonMg: ridden } = (await readPilgrims(stores, ['anna'])).get('anna')!.statistics!
    expect(ridden).toBeGreaterThan(0)
    const pilgrim = { userId: 'anna', transport: { train: 10 }, consumption: { water: 2, hotel: 1 } }
    const figures = await readFigures(stores as unknown as ServiceContext, pilgrim as unknown as Pilgrim)
    const train = carbonMg(10 * KM, 'train')
    expect(figures).toMatchObject({
      km: Math.round(distanceMm / 1e4) / 100,
      carbonKg: kg(ridden + train + 2 * 109_740 + 8_850_000),
      // Compared with the bus. Meals and nights are excluded.
      savedKg: kg(carbonMg(distanceMm + 10 * KM, 'bus') - ridden - train),
      incomplete: false,
    })
  })
})
