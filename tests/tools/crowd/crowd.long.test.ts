/**
 * The demo's simulation: deterministic for a seed, in order of time, in bounded memory, never in the future.
 */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Act } from './acts.ts'
import { createCrowd } from './crowd.ts'
import { DAY_S, HOUR_S, processionKm, WALK_S } from './procession.ts'
import { chooseTimetable, dueMs } from './timetable.ts'
import { readWay } from './way.ts'

const way = readWay()
const crowdOf = (seed: number, pilgrims = 30, sparseUntilS = 6 * DAY_S) =>
  createCrowd({ pilgrims, seed, way, sparseUntilS })

function hashOf(acts: Iterable<Act>): string {
  const hash = createHash('sha256')
  for (const act of acts) hash.update(JSON.stringify(act))
  return hash.digest('hex')
}

describe('the crowd', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(hashOf(crowdOf(1).acts())).toBe(hashOf(crowdOf(1).acts()))
    expect(hashOf(crowdOf(1).acts())).not.toBe(hashOf(crowdOf(2).acts()))
    expect(crowdOf(1).people).toEqual(crowdOf(1).people)
  })

  test('gives a pilgrim the same walk, however many others there are', () => {
    const ofFirst = (pilgrims: number) => [...crowdOf(7, pilgrims).acts()].filter(({ who }) => who === 0)
    expect(ofFirst(1)).toEqual(ofFirst(20))
  })

  test('acts in order of time, on the way, and goes home', () => {
    const crowd = crowdOf(3)
    let before = -Infinity
    for (const { atS, who, deed } of crowd.acts()) {
      expect(atS).toBeGreaterThanOrEqual(before)
      expect(atS).toBeGreaterThanOrEqual(crowd.people[who]!.joinS)
      before = atS
      if (deed.kind !== 'point') continue
      expect(deed.fix.lat).toBeWithin(23.5, 24.6)
      expect(deed.fix.lng).toBeWithin(120.2, 120.75)
    }
    expect(crowd.movedKm.size).toBe(30)
    expect(before).toBeLessThan(WALK_S + DAY_S)
  })

  test('has ids that are valid, different, and known as a demo’s', () => {
    const ids = crowdOf(1, 2_000).people.map(({ userId }) => userId)
    expect(new Set(ids).size).toBe(2_000)
    for (const id of ids) expect(id).toMatch(/^(Ude30[0-9a-f]{28}|demo-1-\d+)$/)
  })
})

describe('the timetable', () => {
  const NOON = Date.parse('2026-04-12T04:00:00Z')
  const HOURS = Array.from({ length: 24 }, (_, hour) => NOON + hour * HOUR_S * 1_000 + 1_234_567)
  const hourInTaiwan = (ms: number) => ((ms / 1_000 + 8 * HOUR_S) % DAY_S) / HOUR_S

  test('begins within the last day, by daylight, at any hour', () => {
    for (const nowMs of HOURS) {
      const { departureMs, fromS } = chooseTimetable(null, 60, nowMs)
      expect(hourInTaiwan(departureMs)).toBe(0)
      const beganMs = departureMs + fromS * 1_000
      expect((nowMs - beganMs) / HOUR_S / 1_000).toBeWithin(5, 23.01)
      expect([5, 12]).toContain(hourInTaiwan(beganMs))
      expect(chooseTimetable('whole', 60, nowMs).departureMs + (WALK_S + 6 * HOUR_S) * 1_000).toBeLessThan(
        nowMs,
      )
    }
  })

  test('sends history at once, then at the speed, and nothing before it happens', () => {
    const timetable = chooseTimetable(null, 60, NOON)
    const due = (afterS: number) => dueMs(timetable, timetable.fromS + afterS, NOON) - NOON
    expect(due(-HOUR_S)).toBe(0)
    expect(due(HOUR_S)).toBe(60_000)
    for (let hours = 0; hours < 40; hours++)
      expect(dueMs(timetable, timetable.fromS + hours * HOUR_S, NOON)).toBeGreaterThanOrEqual(
        timetable.departureMs + (timetable.fromS + hours * HOUR_S) * 1_000,
      )
  })
})

test('the procession is at its places in time', () => {
  expect(processionKm(0, way)).toBe(0)
  expect(processionKm(4.5 * DAY_S, way)).toBeCloseTo(way.turnKm)
  expect(processionKm(WALK_S, way)).toBeCloseTo(way.lengthKm)
})
