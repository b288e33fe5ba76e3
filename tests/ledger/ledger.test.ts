/** The ledger at rest: each point is in exactly one figure. */
import { expect, test } from 'bun:test'
import { openProcessCounters, type Tally } from '#shared/ledger/process-counters.ts'
import { type Ledger, readLedger } from '#shared/ledger/read-ledger.ts'
import { createLog } from '#shared/runtime/log.ts'
import { describeRigs, NOON, type Rig } from '#tests/scheduler/flush-harness.ts'
import { walk } from '#tests/scheduler/walks.ts'

const tallyOf = (rig: Rig): Tally =>
  openProcessCounters({
    kv: rig.kv,
    db: rig.db,
    log: createLog({}, () => undefined),
    journalPath: null,
    journaled: () => 0,
  })

/** The figures that are not 0. */
async function columns(rig: Rig): Promise<Partial<Ledger>> {
  const { losses: _, ...ledger } = await readLedger(rig.db, rig.kv)
  return Object.fromEntries(
    Object.entries(ledger).filter(([name, points]) =>
      name === 'rejected' ? Object.keys(points as object).length > 0 : points !== 0,
    ),
  )
}

describeRigs('the ledger', (rig) => {
  test('it is empty before the first point', async () => {
    expect(await columns(rig)).toEqual({})
  })

  test('it counts points in the buffer and then in the table', async () => {
    await rig.buffer('anna', walk(10))
    await rig.buffer('anna', walk(12))
    expect(await columns(rig)).toEqual({ received: 22, pending: 12, duplicate: 10 })
    await rig.flush()
    expect(await columns(rig)).toEqual({ received: 22, stored: 12, duplicate: 10 })
    // Duplicates of points that only the table has.
    await rig.buffer('anna', walk(5))
    await rig.flush()
    expect(await columns(rig)).toEqual({ received: 27, stored: 12, duplicate: 15 })
  })

  test('a slice that is stored and not acknowledged is counted once, after any number of flushes', async () => {
    await rig.buffer('anna', walk(10))
    await rig.flush()
    await rig.buffer('anna', walk(14))
    for (let i = 0; i < 3; i++) await rig.flush({ kv: { ...rig.kv, settle: async () => undefined } })
    await rig.flush()
    expect(await columns(rig)).toEqual({ received: 24, stored: 14, duplicate: 10 })
  })

  test('a dead letter is counted once, after any number of refusals', async () => {
    await rig.buffer('anna', walk(3))
    await rig.bufferEntries('anna', [{ field: `t${NOON - 1}`, value: 'nonsense' }])
    await rig.flush({ kv: { ...rig.kv, settle: async () => undefined } })
    await rig.flush()
    expect(await columns(rig)).toEqual({ received: 4, stored: 3, deadLetter: 1 })
  })

  test('refused points are counted by reason', async () => {
    const tally = tallyOf(rig)
    tally.count('rejected:too-old', 2)
    tally.count('rejected:paused', 3)
    tally.count('rejected:too-old', 5)
    tally.count('duplicate', 1)
    await tally.sync()
    await tally.sync()
    expect(await columns(rig)).toEqual({ received: 11, duplicate: 1, rejected: { 'too-old': 7, paused: 3 } })
    await tally.stop()
  })
})
