import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TrackSyncRequest, CheckInRequest } from '#shared/contracts/gps-points.ts'
import type { RecordedPoint } from '#shared/core/recorded-file/read-recorded-file.ts'
import { type Plan, planReplay } from './plan-requests.ts'
import { walk } from './recorded-walk.ts'

const NOW = Date.parse('2026-10-01T12:00:00Z')

type Choices = Parameters<typeof planReplay>[1]

const plan = (points: readonly RecordedPoint[], choices: Partial<Choices> = {}): Plan =>
  planReplay(
    {
      ok: true,
      format: 'gpx',
      points,
      tracks: 1,
      segments: 1,
      leftOut: { untimed: 0, misplaced: 0, repeated: 0, early: 0, late: 0 },
      redated: 0,
    },
    { user: 'u', end: 'now', speed: null, half: null, shuffle: false, repeat: false, ...choices },
    NOW,
  )

/** Kind and time of all requests, in order. */
const sent = ({ steps }: Plan): string[] =>
  steps.flatMap((step) =>
    step.kind === 'check-in'
      ? [`c ${step.body.timestamp}`]
      : step.body.points.map(({ timestamp }) => `t ${timestamp}`),
  )

const asTimes = (points: readonly RecordedPoint[], shiftMs: number): string[] =>
  points.map(({ t }) => new Date(t + shiftMs).toISOString())

describe('the order of things', () => {
  test('a check-in at the first point, then every point, in bodies that the contracts take', () => {
    const points = walk(1_234)
    const { steps, points: count } = plan(points)
    expect(steps.map((step) => (step.kind === 'sync' ? step.body.points.length : 'check-in'))).toEqual([
      'check-in',
      500,
      500,
      234,
    ])
    expect(count).toBe(1_234)
    for (const step of steps) {
      const contract = step.kind === 'check-in' ? CheckInRequest : TrackSyncRequest
      expect(contract.safeParse(step.body).error).toBeUndefined()
    }
    expect(steps[0]!.body).toMatchObject({ user_id: 'u', lat: points[0]!.lat, lng: points[0]!.lng })
    const times = asTimes(points, NOW - points.at(-1)!.t)
    expect(sent(plan(points))).toEqual([`c ${times[0]}`, ...times.map((t) => `t ${t}`)])
  })

  test('everything twice, with the same times', () => {
    const once = sent(plan(walk(30)))
    expect(sent(plan(walk(30), { repeat: true }))).toEqual([...once, ...once])
    expect(plan(walk(30), { repeat: true }).points).toBe(60)
  })

  test('random order: the same points, the check-in first', () => {
    const [first, ...rest] = sent(plan(walk(600), { shuffle: true }))
    const [ordered, ...inOrder] = sent(plan(walk(600)))
    expect(first).toBe(ordered)
    expect(rest).not.toEqual(inOrder)
    expect(rest.toSorted()).toEqual(inOrder)
  })

  test('two halves with one end are the whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.boolean(), (count, shuffle) => {
        const halves = ([1, 2] as const).map((which) =>
          sent(plan(walk(count), { half: which, end: NOW, shuffle })),
        )
        expect(halves.flat().toSorted()).toEqual(sent(plan(walk(count), { end: NOW })).toSorted())
        expect(halves[1]!.filter((line) => line.startsWith('c'))).toEqual([])
      }),
    )
  })

  test('the first half has the middle; the second half of one point is refused', () => {
    expect(plan(walk(3), { half: 1 }).points).toBe(2)
    expect(sent(plan(walk(1), { half: 1 }))).toHaveLength(2)
    expect(() => plan(walk(1), { half: 2 })).toThrow(/Half 2/)
  })

  test('a request with every digit that a file may have is within the limit of a body', () => {
    const digits = { lat: -89.12345678901234, lng: -179.1234567890123, altitude: -123456789.1234567 }
    const points = walk(500).map((point) => ({ ...point, ...digits }))
    const { steps } = plan(points, { user: 'u'.repeat(128) })
    expect(Buffer.byteLength(JSON.stringify(steps[1]!.body))).toBeWithin(60_000, 102_401)
  })
})

describe('time', () => {
  const points = walk(100)
  const spanMs = points.at(-1)!.t - points[0]!.t

  test.each([
    ['now', NOW],
    ['recorded', points.at(-1)!.t],
    [Date.parse('2026-05-01T00:00:00Z'), Date.parse('2026-05-01T00:00:00Z')],
  ] as const)('a track that ends %p', (end, endMs) => {
    const planned = plan(points, { end })
    expect(planned.endMs).toBe(endMs)
    expect(sent(planned).slice(1)).toEqual(asTimes(points, endMs - points.at(-1)!.t).map((t) => `t ${t}`))
  })

  test('no pace: nothing is ever due later', () => {
    expect(plan(points, { repeat: true }).steps.every(({ dueMs }) => dueMs === 0)).toBe(true)
  })

  test.each([1, 7.5, 60])(
    'at %p × real time no point is sent before its moment or carries the future',
    (speed) => {
      const planned = plan(points, { speed })
      for (const step of planned.steps) {
        const carried = step.kind === 'check-in' ? [step.body] : step.body.points
        for (const { timestamp } of carried) {
          const t = Date.parse(timestamp)
          // The shifted end is rounded to a millisecond.
          expect(t).toBeLessThanOrEqual(NOW + step.dueMs + 1)
          expect((t - (planned.endMs - spanMs)) / speed).toBeLessThanOrEqual(step.dueMs + 1e-6)
        }
      }
      expect(planned.steps.at(-1)!.dueMs).toBeCloseTo(spanMs / speed)
    },
  )

  test('at real time batches are ten seconds or a step apart, so that the limit of ten a minute holds', () => {
    const due = plan(walk(300, { stepS: 1 }), { speed: 1 })
      .steps.slice(1)
      .map(({ dueMs }) => dueMs)
    const inAMinute = due.map((from) => due.filter((at) => at >= from && at < from + 60_000).length)
    expect(Math.max(...inAMinute)).toBeLessThanOrEqual(10)
  })
})
