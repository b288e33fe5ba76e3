/** The ledger, dead letters and the forced flush, as operators use them. */
import { expect, test } from 'bun:test'
import {
  deadLettersEndpoint,
  dropDeadLetterEndpoint,
  forceFlushEndpoint,
  type Ledger,
  ledgerEndpoint,
  requeueDeadLetterEndpoint,
} from '#shared/contracts/ledger.ts'
import { trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  admin,
  callAs,
  checkIn,
  newPilgrimId,
  PLACE,
  readAs,
  setStatus,
  syncTrack,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'

const ledgerOf = async (stack: TestStack): Promise<Ledger> =>
  dataOf(await readAs(stack, 'manager', 'admin/ledger'), ledgerEndpoint)

const sumOf = ({ rejected, losses: _losses, as_of: _asOf, received, ...others }: Ledger): number =>
  [...Object.values(others), ...Object.values(rejected)].reduce((sum, points) => sum + points, 0) - received

describeBothStacks(
  'the ledger',
  (stack) => {
    test('counts accepted points, duplicates and refusals; an operator can force a flush', async () => {
      const force = () => callAs(stack, 'manager', 'POST', 'admin/flush')
      // The first flush has ended, and the next one is far off.
      expect((await dataOf(await force(), forceFlushEndpoint)).finished).toBe(true)
      const userId = newPilgrimId()
      const now = Date.now()
      const points = Array.from({ length: 10 }, (_, i) => ({ ...PLACE, timestamp: now - i * 60_000 }))
      const bad = [{ ...PLACE }, { ...PLACE, timestamp: 1 }, { ...PLACE, lat: 91, timestamp: now }]
      await dataOf(await syncTrack(stack, userId, [...points, ...bad, points[0]]), trackSyncEndpoint)
      await dataOf(await syncTrack(stack, userId, points.slice(0, 4)), trackSyncEndpoint)
      expect((await checkIn(stack, userId)).status).toBe(202)
      for (let i = 0; i < 5; i++) await checkIn(stack, userId, { timestamp: now - i * 1_000 })
      expect((await setStatus(stack, { status: 'paused' })).status).toBe(200)
      expect((await syncTrack(stack, userId, [...points.slice(0, 2), ...bad])).status).toBe(403)
      expect((await setStatus(stack, { status: 'active' })).status).toBe(200)

      const taken = {
        received: 29,
        duplicate: 5,
        rejected: {
          'no-timestamp': 2,
          'too-old': 2,
          'out-of-bounds': 2,
          'rate-limited': 1,
          paused: 2,
        },
      }
      // Each process publishes its rejections a moment later.
      const before = await until(
        async () => {
          const ledger = await ledgerOf(stack)
          return ledger.received >= taken.received && ledger
        },
        'what was turned away to be counted',
        { everyMs: 500 },
      )
      expect(before).toMatchObject({ ...taken, pending: 15, stored: 0, lost: 0, in_flight: 0 })
      expect(sumOf(before)).toBe(0)

      const flushed = await Promise.all([force(), force()])
      for (const answer of flushed) expect((await dataOf(answer, forceFlushEndpoint)).finished).toBe(true)
      const after = await ledgerOf(stack)
      expect(after).toMatchObject({ ...taken, pending: 0, stored: 15, lost: 0, in_flight: 0, dead_letter: 0 })
    })

    test('an unknown dead letter is 404, an invalid id 400', async () => {
      const list = await readAs(stack, 'manager', 'admin/dead-letters')
      expect((await dataOf(list, deadLettersEndpoint)).items).toEqual([])
      for (const { method, path } of [requeueDeadLetterEndpoint, dropDeadLetterEndpoint]) {
        const call = (id: string) => stack.fetch(path.replace(':id', id), { method, headers: admin('owner') })
        await sentenceOf(await call('7'), 404, 'not-found')
        await sentenceOf(await call('x'), 400, 'invalid-request')
      }
    })
  },
  { EVENT_FLUSH_SECONDS: '3600', EVENT_LIMIT_CHECKIN: '5' },
)
