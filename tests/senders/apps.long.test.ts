/**
 * Each app under the conditions of a pilgrimage: a dead zone, wrong times, a pause, a revoked key, a reboot.
 * Finally every fix that an app still has is stored or queued; dropped fixes are reported in the tracker's
 * row or by the app.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
import { newAppId } from '#tests/helpers/test-stack.ts'
import type { Fix } from '#tests/tracking/tracker-bodies.ts'
import { APPS } from './apps.ts'
import type { Phone } from './phone.ts'
import { HOUR_MS, MINUTE_MS, openSimulation, SECOND_MS, type Simulation } from './simulation.ts'

let simulation: Simulation
beforeAll(async () => {
  simulation = await openSimulation({ EVENT_LIMIT_DRAWING: '1000' })
}, STACK_TIMEOUT_MS)
afterAll(() => simulation?.[Symbol.asyncDispose]())

interface Walk {
  readonly userId: string
  readonly trackerId: string
  readonly phone: Phone
  readonly fixes: Fix[]
  /** Walks on, with a fix every 30 s. @param aheadMs lead of the phone's clock */
  go(forMs: number, aheadMs?: number): Promise<void>
  /** A fix dated ahead. */
  wrongFix(aheadMs: number): Promise<void>
  /** Times of stored points. */
  stored(): Promise<Set<number>>
}

async function openWalk(name: string): Promise<Walk> {
  const userId = newAppId()
  const { key, id } = await simulation.newTracker(userId)
  const phone = APPS[name]!.open(simulation, key)
  const fixes: Fix[] = []
  const { time } = simulation
  const fixAt = (ms: number): Fix => {
    // Whole seconds: most apps send no fractions.
    const fix = {
      lat: 24 + fixes.length * 0.0004,
      lng: 120.7,
      ms: Math.floor(ms / 1_000) * 1_000,
      speedMs: 1.4,
    }
    fixes.push(fix)
    return fix
  }
  return {
    userId,
    trackerId: id,
    phone,
    fixes,
    async go(forMs, aheadMs = 0) {
      for (const endMs = time.nowMs + forMs; time.nowMs < endMs;) {
        phone.record(fixAt(time.nowMs + aheadMs))
        await time.run(time.nowMs + 30 * SECOND_MS)
      }
    },
    async wrongFix(aheadMs) {
      phone.record(fixAt(time.nowMs + aheadMs))
      await time.run(time.nowMs + 30 * SECOND_MS)
    },
    stored: async () => new Set(await simulation.storedMs(userId)),
  }
}

/** Fixes that are neither stored nor on the phone. */
async function missing({ phone, fixes, stored }: Walk): Promise<Fix[]> {
  const [times, kept] = [await stored(), new Set(phone.kept())]
  return fixes.filter((fix) => !times.has(fix.ms) && !kept.has(fix))
}

describe.each(Object.keys(APPS))('%s', (name) => {
  test('eight hours without a network: every point is stored', async () => {
    const walk = await openWalk(name)
    walk.phone.online = false
    await walk.go(8 * HOUR_MS)
    walk.phone.online = true
    await walk.go(30 * MINUTE_MS)
    expect(await missing(walk)).toEqual([])
    // Overland waits for its next batch.
    expect(walk.phone.kept().length).toBeLessThanOrEqual(name === 'Overland' ? 11 : 1)
    expect(walk.phone.dropped).toEqual([])
    expect(await simulation.troubleOf(walk.userId)).toBeNull()
  }, 300_000)

  test.each([
    ['6 minutes', 6 * MINUTE_MS],
    ['14 minutes', 14 * MINUTE_MS],
    ['an hour', HOUR_MS],
    ['40 hours', 40 * HOUR_MS],
    ['years', 10_000 * HOUR_MS],
  ])('one fix dated %s ahead holds up the queue for less than 15 minutes', async (_, aheadMs) => {
    const walk = await openWalk(name)
    walk.phone.online = false
    await walk.wrongFix(aheadMs)
    await walk.go(10 * MINUTE_MS)
    walk.phone.online = true
    const before = walk.fixes.slice(1)
    // The app sends its queue as soon as it can; it may wait for its own timer.
    await walk.go(15 * MINUTE_MS)
    const times = await walk.stored()
    expect(before.filter(({ ms }) => !times.has(ms))).toEqual([])
    const lost = await missing(walk)
    expect(lost.filter((fix) => fix !== walk.fixes[0])).toEqual([])
    if (lost.length > 0) expect(await simulation.troubleOf(walk.userId)).toBe('in-the-future')
  })

  test('a pause of three minutes loses nothing', async () => {
    const walk = await openWalk(name)
    await walk.go(5 * MINUTE_MS)
    await simulation.setStatus('paused')
    await walk.go(3 * MINUTE_MS)
    await simulation.setStatus('active')
    await walk.go(15 * MINUTE_MS)
    expect(await missing(walk)).toEqual([])
  })

  test('a pause of half an hour: what the app gave up is named in its row', async () => {
    const walk = await openWalk(name)
    await simulation.setStatus('paused')
    await walk.go(30 * MINUTE_MS)
    await simulation.setStatus('active')
    await walk.go(15 * MINUTE_MS)
    const lost = await missing(walk)
    expect(lost.length > 0).toBe(name === 'GPSLogger')
    if (lost.length > 0) expect(await simulation.troubleOf(walk.userId)).toBe('forgotten')
  })

  test('a revoked key: the app keeps its points or shows an error', async () => {
    const walk = await openWalk(name)
    await walk.go(2 * MINUTE_MS)
    await simulation.revoke(walk.userId, walk.trackerId)
    await walk.go(15 * MINUTE_MS)
    const lost = await missing(walk)
    expect(walk.phone.shown).toContain(404)
    expect(lost.length > 0).toBe(name === 'GPSLogger' || name === 'OwnTracks on iOS')
  })

  test('a clock 20 minutes ahead: every point but the first is stored, and the row says so', async () => {
    const walk = await openWalk(name)
    // Not a multiple of 30 s: a second point at the same instant would be a duplicate.
    await walk.go(HOUR_MS, 20 * MINUTE_MS + 7 * SECOND_MS)
    // The clock is corrected.
    await walk.go(30 * MINUTE_MS)
    const times = await walk.stored()
    const waiting = walk.phone.kept().length
    expect(times.size).toBeGreaterThanOrEqual(walk.fixes.length - waiting - 1)
    expect(waiting).toBeLessThanOrEqual(name === 'Overland' ? 11 : 1)
    expect(Math.max(...times)).toBeLessThanOrEqual(simulation.time.nowMs)
    expect(await simulation.troubleOf(walk.userId)).toBe('in-the-future')
  })

  test('a reboot in a dead zone: what the app has kept is stored', async () => {
    const walk = await openWalk(name)
    walk.phone.online = false
    await walk.go(HOUR_MS)
    walk.phone.reboot()
    await walk.go(HOUR_MS)
    walk.phone.online = true
    await walk.go(15 * MINUTE_MS)
    const lost = await missing(walk)
    expect(lost).toEqual([...walk.phone.dropped])
    // OsmAnd keeps its queue in memory, which no server can know.
    expect(lost.length > 0).toBe(name === 'OsmAnd')
  })
})
