/** The faults of a cluster, of `bun run test:faults`. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { differences } from './suite/check-balance.ts'
import { openClusterSystem } from './suite/cluster.ts'
import { CLUSTER_FAULTS } from './suite/cluster-faults.ts'
import { assignVolunteers } from './suite/operators.ts'
import { isGood } from './suite/report.ts'
import { runFault, type Timing } from './suite/run-fault.ts'
import type { TestSystem } from './suite/test-system.ts'

const OPEN_MS = 120_000
/** Longer than the timeout of a recovery. */
const TEST_MS = 300_000
const TIMING: Timing = { phones: 16, calmMs: 1_000, holdMs: 1_000, freezeMs: 3_000 }

/** Repeats a run: TEST_SEED=… bun run test faults/cluster */
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

describeOnServers(`faults of a cluster, seed ${SEED}`, () => {
  let system: TestSystem
  beforeAll(async () => {
    system = await openClusterSystem()
    await assignVolunteers(system)
  }, OPEN_MS)
  afterAll(() => system.close(), OPEN_MS)

  test.each(CLUSTER_FAULTS.map((fault, i) => [fault.name, fault, i] as const))(
    '%s',
    async (_name, fault, i) => {
      const outcome = await runFault(system, fault, i, SEED, TIMING)
      expect(outcome).toMatchObject({ lost: 0, doubled: 0, complaints: [] })
      expect(isGood(outcome)).toBe(true)
      // The phones sent requests, and most of them were accepted.
      expect(outcome.answered).toBeGreaterThan(100)
    },
    TEST_MS,
  )

  test('a rebuild afterwards finds no difference', async () => {
    expect(await differences(system)).toEqual([])
  })
})
