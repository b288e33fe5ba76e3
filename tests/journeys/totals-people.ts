/** Pilgrims with known totals: modes, late points, midnight, valid and invalid points, reports, surveys. */
import { createCalendar } from '#shared/core/rules/calendar.ts'
import type { FoldPoint } from '#shared/core/distance/points-to-distance.ts'
import { MINUTE } from '#tests/helpers/pilgrim.ts'
import type { Reports } from './reference-totals.ts'

export const DAY = 86_400_000
export const calendar = createCalendar('Asia/Taipei')
/** Noon in Taipei, two days ago: all times are near it, and none is in the future. */
export const NOON = calendar.span(calendar.day(Date.now() - 2 * DAY))[0] + DAY / 2

export interface Person {
  readonly id: string
  readonly name: string
  /** Sent in this order, a flush after each. */
  readonly batches: readonly (readonly FoldPoint[])[]
  readonly reports: Reports
  /** The last one counts. */
  readonly surveys: readonly Record<string, string | number | boolean | string[]>[]
}

/** Points a few minutes apart, each at some distance from the previous one. */
const way = (
  kind: 'c' | 't',
  from: number,
  steps: readonly (readonly [minutes: number, metres: number])[],
  mode: string | null = null,
  lat = 24,
): FoldPoint[] => {
  let at = { t: from, lat }
  return steps.map(([minutes, metres]) => {
    at = { t: at.t + minutes * MINUTE, lat: at.lat + metres / 111_195 }
    return { kind, sentMs: at.t, t: at.t, lat: at.lat, lng: 120.7, mode, rough: false }
  })
}

export const PEOPLE: readonly Person[] = [
  {
    id: 'totals-ada',
    name: 'Ada %_\\ 100',
    batches: [
      [
        ...way('t', NOON, [
          [1, 0],
          [3, 211.7],
          [2, 5],
          [4, 333.3],
          [9, 12_345.6],
        ]),
        ...way('c', NOON, [
          [2, 100],
          [30, 13_000],
        ]),
      ],
      // Late: before, between, and the day before; one across midnight.
      [
        ...way('t', NOON - 60 * MINUTE, [
          [1, 0],
          [6, 401.3],
          [70, 620.9],
        ]),
        ...way('t', NOON - DAY / 2 - 4 * MINUTE, [
          [1, 0],
          [9, 512.1],
        ]),
      ],
    ],
    reports: {
      consumption: { water: 7, recycle: 3, hotel: 1 },
      transport: { car: 12.05, submarine: 3.15, bus: 0.05 },
    },
    surveys: [
      { q1: 'no', q2: 1 },
      { q1: 'yes', q2: 2, q3: ['a', 'b'], q4_why: '=HYPERLINK("http://x")' },
    ],
  },
  {
    id: 'totals-bo',
    name: 'Bo',
    batches: [
      [
        ...way(
          't',
          NOON + 10 * MINUTE,
          [
            [1, 0],
            [5, 1_500.5],
            [5, 2_000],
            [20, 25_000.7],
          ],
          'car',
          24.2,
        ),
        ...way('c', NOON, [[50, 20_000]], 'submarine', 24.2),
      ],
      [
        ...way(
          't',
          NOON + DAY,
          [
            [1, 0],
            [5, 77.7],
            [5, 88.8],
          ],
          'walk',
          24.3,
        ),
      ],
    ],
    reports: { consumption: { water: 2 }, transport: {} },
    surveys: [{ q1: 'yes', q3: ['b'] }],
  },
  {
    id: 'totals-cy',
    name: '',
    batches: [
      [],
      way(
        'c',
        NOON - 100 * MINUTE,
        [
          [1, 0],
          [1, 50],
          [10, 150.15],
        ],
        null,
        24.4,
      ),
    ],
    reports: { consumption: {}, transport: { hsr: 160.45, walk: 4 } },
    surveys: [],
  },
  {
    id: 'totals-di',
    name: 'Di, who is erased',
    batches: [
      way(
        't',
        NOON,
        [
          [1, 0],
          [15, 9_876.5],
          [15, 1_234.5],
        ],
        'train',
        24.6,
      ),
      way('c', NOON - 20 * MINUTE, [[1, 3]], null, 24.6),
    ],
    reports: { consumption: { hotel: 2 }, transport: { scooter: 33.35 } },
    surveys: [{ q1: 'yes', q5: 'gone' }],
  },
]
