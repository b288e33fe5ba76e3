/** The ledger balances after any sequence of operations, and agrees with the tables and the buffer. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dropDeadLetter, requeueDeadLetter } from '#services/admin/ledger/manage-dead-letters.ts'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import type { Acting } from '#shared/service/security/audit-log.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { Refusal } from '#shared/runtime/refusal.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { type Ledger, readLedger } from '#shared/points/ledger/ledger.ts'
import { openProcessCounters, type ProcessCounters } from '#shared/points/ledger/counters.ts'
import { createLog } from '#shared/runtime/log.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { activate, admit, sync } from '#tests/kv/drivers.ts'
import { describeFlushHarness, NOON, type FlushHarness } from '#tests/scheduler/flush-harness.ts'

const OPERATOR: Acting = { role: 'owner', level: 3, name: 'test', fingerprint: 'test', requestId: 'r' }
const RUNS = 8

const users = fc.constantFrom('anna', 'ben', 'cleo')
const minutes = fc.uniqueArray(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 6 })
const steps = fc.oneof(
  { weight: 6, arbitrary: fc.record({ verb: fc.constantFrom('admit', 'restore'), user: users, minutes }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('poison'), user: users, minutes }) },
  // A flush is killed before, between or after its commits and settlements.
  { weight: 4, arbitrary: fc.record({ verb: fc.constant('flush'), settles: fc.constantFrom(0, 1, 99) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constantFrom('replay', 'drop'), which: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('erase'), user: users }) },
  {
    weight: 1,
    arbitrary: fc.record({ verb: fc.constant('reject'), points: fc.integer({ min: 1, max: 9 }) }),
  },
)
type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never

/** One run, on the data of earlier runs: a harness, with an operator's and a replica's access. */
async function openRun(harness: FlushHarness) {
  const objects = await openObjects(`file:${await newDirectory('balance')}`, readConfig({}).s3)
  const context = { ...harness.context(), config: readConfig({}), objects } as unknown as ServiceContext
  const log = createLog({}, () => undefined)
  const counters = openProcessCounters({
    kv: harness.kv,
    db: harness.db,
    log,
    journalPath: null,
    journaled: () => 0,
  })
  return { context, counters }
}

/** An operator's action; a missing target is rejected. */
const unlessRefused = async (act: Promise<unknown>): Promise<void> => {
  await act.catch((error: unknown) => {
    if (!(error instanceof Refusal)) throw error
  })
}

async function letterAt(harness: FlushHarness, which: number): Promise<number> {
  const rows = await harness.db.sql<{ id: number }[]>`SELECT id FROM dead_letters ORDER BY id`
  return rows[which % Math.max(rows.length, 1)]?.id ?? 0
}

async function take(
  harness: FlushHarness,
  context: ServiceContext,
  counters: ProcessCounters,
  step: Step,
): Promise<void> {
  harness.nowMs += 1_000
  switch (step.verb) {
    case 'admit':
      await admit(
        harness.kv,
        received(
          harness,
          sync(
            step.user,
            step.minutes.map((m) => NOON + m * 60_000),
          ),
        ),
      )
      return
    case 'restore':
      await harness.bufferEntries(
        step.user,
        received(
          harness,
          sync(
            step.user,
            step.minutes.map((m) => NOON + m * 60_000),
          ),
        ).entries,
      )
      return
    case 'poison':
      await harness.bufferEntries(
        step.user,
        step.minutes.map((m) => ({ field: `t${m}`, value: `[0,${harness.nowMs},"north",120,1]` })),
      )
      return
    case 'flush': {
      let left = step.settles
      const acknowledge: Kv['acknowledge'] = async (...args) =>
        left-- > 0 ? harness.kv.acknowledge(...args) : undefined
      await harness.flush({ slicePoints: 4, kv: { ...harness.kv, acknowledge } })
      return
    }
    case 'replay':
      return unlessRefused(requeueDeadLetter(context, OPERATOR, await letterAt(harness, step.which)))
    case 'drop':
      return unlessRefused(dropDeadLetter(context, OPERATOR, await letterAt(harness, step.which)))
    case 'erase':
      return unlessRefused(eraseUser(context, OPERATOR, step.user))
    case 'reject':
      counters.count('rejected:too-old', step.points)
  }
}

/** The same points, received now. */
const received = (harness: FlushHarness, submission: ReturnType<typeof sync>) => ({
  ...submission,
  entries: submission.entries.map(({ field }) => ({ field, value: `[0,${harness.nowMs},25.03,121.5,1]` })),
})

/** Content of the stores themselves. */
async function held(harness: FlushHarness) {
  return {
    stored: await harness.storedPoints(),
    pending: (await harness.pending()).length,
    deadLetter: (await harness.deadLetters()).length,
  }
}

const shown = ({ stored, pending, deadLetter }: Ledger) => ({ stored, pending, deadLetter })

describeFlushHarness('the balance', (harness) => {
  test('holds through any sequence of what may happen', async () => {
    await harness.db.sql`TRUNCATE erasures`
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 16 }), async (sequence) => {
        const { context, counters } = await openRun(harness)
        await activate(harness.kv)
        const before = await readLedger(harness.db, harness.kv)
        for (const step of sequence) {
          await take(harness, context, counters, step)
          await counters.sync()
          const ledger = await readLedger(harness.db, harness.kv)
          expect(ledger.lost).toBe(0)
        }
        await harness.flush()
        const ledger = await readLedger(harness.db, harness.kv)
        expect({ ...shown(ledger), inFlight: ledger.inFlight }).toEqual({
          ...(await held(harness)),
          inFlight: 0,
        })
        expect(ledger.pending).toBe(0)
        const rejected = sequence.reduce((sum, step) => sum + ('points' in step ? step.points : 0), 0)
        expect((ledger.rejected['too-old'] ?? 0) - (before.rejected['too-old'] ?? 0)).toBe(rejected)
        for (const [name, points] of Object.entries(ledger))
          if (typeof points === 'number')
            expect({ name, negative: points < 0 }).toEqual({ name, negative: false })
        await counters.stop()
      }),
      {
        numRuns: RUNS,
        // Erased, replayed or dropped between the commit of a slice and its settlement.
        examples: [
          [
            [
              { verb: 'admit', user: 'ben', minutes: [2, 9] },
              { verb: 'flush', settles: 0 },
              { verb: 'erase', user: 'ben' },
              { verb: 'flush', settles: 0 },
            ],
          ],
          [
            [
              { verb: 'poison', user: 'anna', minutes: [0] },
              { verb: 'replay', which: 0 },
              { verb: 'poison', user: 'anna', minutes: [0] },
              { verb: 'flush', settles: 0 },
              { verb: 'erase', user: 'anna' },
            ],
          ],
          [
            [
              { verb: 'poison', user: 'cleo', minutes: [0] },
              { verb: 'flush', settles: 0 },
              { verb: 'replay', which: 0 },
              { verb: 'flush', settles: 99 },
            ],
          ],
          [
            [
              { verb: 'poison', user: 'ben', minutes: [6] },
              { verb: 'flush', settles: 0 },
              ...Array.from({ length: 6 }, () => ({ verb: 'drop' as const, which: 0 })),
              { verb: 'flush', settles: 99 },
            ],
          ],
        ],
      },
    )
  })
})
