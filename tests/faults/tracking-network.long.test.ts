/** Network faults between tracking and its kv under a stream of check-ins; no process ends. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Server } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import type { LinkCondition } from '#tests/helpers/tcp-proxy.ts'
import { startPhones } from './phones.ts'
import { openTrackingHarness, type TrackingHarness } from './tracking-harness.ts'

const TEST_MS = 60_000
const CHECK_INS = 2_000
const CLEAR_MS = 400
const FAULTY_MS = 1_500

const CONDITIONS: readonly [name: string, condition: LinkCondition][] = [
  ['is slow', { kind: 'slow', toServerMs: 300, toClientMs: 300 }],
  ['loses everything', { kind: 'silent' }],
  ['breaks connections within a request', { kind: 'torn' }],
  ['closes connections', { kind: 'closed' }],
]

describeOnServers('a kv whose network', () => {
  // Each condition has its own, because the tests run at the same time: they wait most of it.
  const own = new Map<string, { harness: TrackingHarness; tracking: Server }>()
  beforeAll(async () => {
    await Promise.all(
      CONDITIONS.map(async ([name]) => {
        const harness = await openTrackingHarness()
        own.set(name, { harness, tracking: await harness.startTracking() })
      }),
    )
  }, TEST_MS)
  afterAll(async () => {
    await Promise.all(
      [...own.values()].map(async ({ harness, tracking }) => {
        await tracking.close()
        await harness.close()
      }),
    )
  }, TEST_MS)

  test.concurrent.each(CONDITIONS)(
    '%s: check-ins are accepted, and each is stored once',
    async (name, condition) => {
      const { harness, tracking } = own.get(name)!
      const phones = startPhones(name.replaceAll(' ', '-'), () => tracking.url, CHECK_INS)
      for (let spell = 0; spell < 2; spell++) {
        await Bun.sleep(CLEAR_MS)
        harness.network.set(condition)
        await Bun.sleep(FAULTY_MS)
        harness.network.set({ kind: 'clear' })
      }
      await phones.stop()
      await harness.expectStoredOnce(phones.sent, tracking)
      // No check-in was refused: the journal accepts those that the kv does not.
      expect(new Set(phones.sent.flatMap(({ statuses }) => statuses))).toEqual(new Set([202]))
      // How many depends on the machine.
      expect(phones.sent.length).toBeGreaterThan(40)
    },
    TEST_MS,
  )
})
