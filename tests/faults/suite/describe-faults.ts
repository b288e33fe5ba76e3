/** Runs faults as tests, one after the other on one system. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { differences } from './check-balance.ts'
import type { Fault } from './fault.ts'
import { assignVolunteers } from './operators.ts'
import { isGood, runFault, type Timing } from './run-fault.ts'
import type { TestSystem } from './test-system.ts'

const TIMING: Timing = { phones: 16, calmMs: 1_000, holdMs: 1_000, freezeMs: 3_000 }

/** Repeats a run: TEST_SEED=… bun run test faults/… */
const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31))

/**
 * Tests that after each fault everything acknowledged is stored once, and that all parts recover.
 * @param limits timeouts in milliseconds: of opening the system, and of a fault, which includes its recovery
 */
export function describeFaults(
  name: string,
  faults: readonly Fault[],
  open: () => Promise<TestSystem>,
  limits: { readonly openMs: number; readonly faultMs: number },
): void {
  describeOnServers(`${name}, seed ${SEED}`, () => {
    let system: TestSystem
    beforeAll(async () => {
      system = await open()
      await assignVolunteers(system)
    }, limits.openMs)
    afterAll(() => system?.close(), limits.openMs)

    test.each(faults.map((fault, i) => [fault.name, fault, i] as const))(
      '%s',
      async (_name, fault, i) => {
        const outcome = await runFault(system, fault, i, SEED, TIMING)
        expect(outcome).toMatchObject({ lost: 0, doubled: 0, complaints: [] })
        expect(isGood(outcome)).toBe(true)
        // The phones sent requests, and most of them were accepted.
        expect(outcome.answered).toBeGreaterThan(100)
      },
      limits.faultMs,
    )

    test('a rebuild afterwards finds no difference', async () => {
      expect(await differences(system)).toEqual([])
    })
  })
}
