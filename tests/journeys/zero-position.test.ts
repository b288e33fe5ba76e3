/** Exactly 0,0: a check-in there counts as a check-in, but not as a place. */
import { expect, test } from 'bun:test'
import { clustersEndpoint } from '#shared/contracts/clusters.ts'
import { profileEndpoint } from '#shared/contracts/profile.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { checkIn, flushed, newAppId, readAs, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'

const MINUTE_MS = 60_000
const ZERO = { lat: 0, lng: 0, accuracy: 5 }

function zeroPosition(stack: TestStack): void {
  test('a check-in at 0,0 and a walk two days later: one check-in, and the kilometres of the walk', async () => {
    const userId = newAppId()
    const endMs = Date.now() - MINUTE_MS
    const startMs = endMs - 48 * 60 * MINUTE_MS
    const answer = await checkIn(stack, userId, { ...ZERO, timestamp: startMs })
    expect(answer.status).toBe(202)
    await dataOf(answer, checkInEndpoint)
    // 4 km northward in 50 minutes, without a fix at its end.
    const walk = Array.from({ length: 6 }, (_, i) => ({
      lat: 24.1 + i * 0.0071946,
      lng: 120.6,
      timestamp: endMs - (50 - i * 10) * MINUTE_MS - 1,
    }))
    const track = [...walk, { ...ZERO, timestamp: endMs }]
    expect(await dataOf(await syncTrack(stack, userId, track), trackSyncEndpoint)).toMatchObject({
      accepted: 7,
      rejected: [],
    })
    const expectProfile = async () => {
      const profile = await dataOf(await stack.fetch(`/api/event/user/${userId}`), profileEndpoint)
      expect(profile).toMatchObject({ km: 4, checkins: 1, carbon_kg: 0 })
    }
    const expectNoPlace = async () => {
      // The map may be five seconds old.
      const shown = await until(async () => {
        const { points } = await dataOf(await readAs(stack, 'owner', 'data?limit=5000'), dataEndpoint)
        const own = points.filter((point) => point.userId === userId)
        return own.length > 0 && own
      }, 'the pilgrim to be on the map')
      expect(shown).toMatchObject([{ lat: walk.at(-1)!.lat }])
      const clusters = await dataOf(
        await readAs(stack, 'volunteer', 'admin/clusters?zoom=6&bbox=-1,-1,1,1'),
        clustersEndpoint,
      )
      expect(clusters.features).toEqual([])
    }
    await expectProfile()
    await flushed(stack)
    await expectProfile()
    await expectNoPlace()
  })
}

describeBothStacks('a position of exactly 0,0', zeroPosition)
