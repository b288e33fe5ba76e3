/** Every endpoint shows the same totals, to the last digit, as a direct recomputation. */
import { beforeAll, expect, test } from 'bun:test'
import { clustersEndpoint } from '#shared/contracts/clusters.ts'
import {
  carbonEndpoint,
  surveysEndpoint,
  timelineEndpoint,
  type UserRow,
  usersEndpoint,
} from '#shared/contracts/reports.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { levelOf } from '#shared/core/rules/levels.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { post, profileOf, MINUTE } from '#tests/helpers/pilgrim.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, callAs, checkIn, flushed, syncTrack } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { recompute } from '#tests/distance/reference-fold.ts'
import {
  carbonOf,
  eventOf,
  type Figures,
  figuresOf,
  kg,
  km,
  kmOfRow,
  type Reports,
} from './reference-totals.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import type { FoldPoint } from '#shared/core/distance/points-to-distance.ts'

/** Pilgrims with known totals: modes, late points, midnight, valid and invalid points, reports, surveys. */
const DAY = 86_400_000
const calendar = createCalendar('Asia/Taipei')
/** From noon to the latest point: early the next day (ms). */
const TO_NEXT_DAY = 18 * 60 * MINUTE
/**
 * The latest noon in Taipei for which no point is in the future: the map drops positions older than two days.
 */
const NOON = calendar.span(calendar.day(Date.now() - DAY / 2 - TO_NEXT_DAY - 15 * MINUTE))[0] + DAY / 2

interface Person {
  readonly id: string
  readonly name: string
  /** Sent in this order, with a flush after each. */
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

const PEOPLE: readonly Person[] = [
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
          NOON + TO_NEXT_DAY,
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

const ERASED = PEOPLE[3]!
const PRESENT = PEOPLE.filter((person) => person !== ERASED)

const countersOf = ({ batches }: Person) => recompute(batches.flat(), calendar)
const expected = new Map(PEOPLE.map((person) => [person.id, figuresOf(countersOf(person))]))
const mine = ({ id }: Person): Figures => expected.get(id)!
/** The totals of everyone who ever walked. */
const event = eventOf(PEOPLE.map(countersOf))

describeBothStacks('totals', (stack) => {
  const read = (path: string, headers = admin('owner')) => stack.fetch(`/api/event/${path}`, { headers })
  const send = async ({ id, batches }: Person, batch: number) => {
    const points = batches[batch]!
    for (const { kind, t, lat, lng, mode } of points)
      if (kind === 'c')
        await dataOf(await checkIn(stack, id, { lat, lng, mode, timestamp: t }), checkInEndpoint)
    const track = points
      .filter(({ kind }) => kind === 't')
      .map(({ lat, lng, t, mode }) => ({ lat, lng, mode, timestamp: t }))
    if (track.length > 0)
      expect(await dataOf(await syncTrack(stack, id, track), trackSyncEndpoint)).toMatchObject({
        accepted: track.length,
      })
  }

  beforeAll(async () => {
    for (const batch of [0, 1]) {
      await Promise.all(PEOPLE.map((person) => send(person, batch)))
      await flushed(stack)
    }
    await Promise.all(
      PEOPLE.map(async ({ id, name, reports, surveys }) => {
        // The last report counts.
        await post(stack, 'user/sync', {
          user_id: id,
          consumption: { water: 40 },
          transport: { car: 99.95, hsr: 1 },
        })
        await post(stack, 'user/sync', {
          user_id: id,
          display_name: name,
          consumption: { water: 0, ...reports.consumption },
          transport: { car: 0, hsr: 0, ...reports.transport },
        })
        for (const survey of surveys) await post(stack, 'submit', { user_id: id, survey })
      }),
    )
    const erased = await callAs(stack, 'owner', 'DELETE', `admin/users/${ERASED.id}`)
    expect(erased.status).toBe(200)
    await flushed(stack)
  })

  test('a profile, the list of users, and an export', async () => {
    const { items } = await dataOf(await read('admin/users'), usersEndpoint)
    expect(items.map(({ userId }) => userId)).toEqual(PRESENT.map(({ id }) => id))
    for (const [i, person] of PRESENT.entries()) {
      const { mm, mg, points, checkins, lastMs } = mine(person)
      const reported = carbonOf(person.reports)
      const shown = {
        km: km(mm),
        checkins,
        level: levelOf(mm, checkins).level,
        carbon_kg: kg(mg + reported.mg),
        last_seen: new Date(lastMs).toISOString(),
      }
      expect(items[i]).toMatchObject(shown)
      expect(await profileOf(stack, person.id, admin('volunteer'))).toMatchObject({
        ...shown,
        carbon_saved_kg: kg(Math.round((mm + reported.mm) * 0.47515) - mg - reported.transportMg),
      })
      const all = (await (await read(`admin/users/${person.id}/export`)).json()) as Record<string, object[]>
      expect(all.gps_points).toHaveLength(points)
      expect(all.pilgrim_totals).toMatchObject([{ points, checkins, distance_mm: mm, carbon_mg: mg }])
    }
  })

  test('carbon: everything walked and reported, by erased people too', async () => {
    const reported = PEOPLE.map(({ reports }) => carbonOf(reports))
    const sum = (figure: (one: (typeof reported)[number]) => number) =>
      reported.reduce((n, one) => n + figure(one), 0)
    const totalMg = event.mg + sum(({ mg }) => mg)
    const modes = structuredClone(event.modes)
    for (const { modes: more } of reported)
      for (const [mode, { mm, mg }] of Object.entries(more)) {
        const sums = (modes[mode] ??= { mm: 0, mg: 0 })
        sums.mm += mm
        sums.mg += mg
      }
    const walkedMg = event.mg + sum(({ transportMg }) => transportMg)
    expect(await dataOf(await read('admin/carbon'), carbonEndpoint)).toEqual({
      total_kg: kg(totalMg),
      mean_kg: kg(totalMg / PEOPLE.length),
      saved_kg: kg(Math.round((event.mm + sum(({ mm }) => mm)) * 0.47515) - walkedMg),
      pilgrims: PEOPLE.length,
      by_mode: Object.fromEntries(
        Object.entries(modes).map(([mode, { mm, mg }]) => [mode, { km: kmOfRow(mm), kg: kg(mg) }]),
      ),
      recorded_km: Object.fromEntries(
        Object.entries(event.modes).map(([mode, { mm }]) => [mode, kmOfRow(mm)]),
      ),
      by_day: event.modeDays.map(({ day, mm, mg }) => ({ day, km: kmOfRow(mm), kg: kg(mg) })),
      consumption: { water: 9, recycle: 3, hotel: 3, kg: kg(sum(({ mg, transportMg }) => mg - transportMg)) },
      as_of: expect.any(String),
    })
  })

  test('the timeline, by day and by hour', async () => {
    const { days, hours, time_zone } = await dataOf(await read('admin/timeline'), timelineEndpoint)
    expect({ days, hours, time_zone }).toEqual({
      days: event.days,
      hours: event.hours,
      time_zone: 'Asia/Taipei',
    })
    // Hours add up to days, and to the carbon of the segments.
    for (const figure of ['points', 'checkins'] as const)
      expect(hours.reduce((n, hour) => n + hour[figure], 0)).toBe(days.reduce((n, day) => n + day[figure], 0))
  })

  test('map cells of every size', async () => {
    for (const zoom of [6, 12, 18]) {
      const { features } = await dataOf(await read(`admin/clusters?zoom=${zoom}`), clustersEndpoint)
      const sum = (figure: 'count' | 'users') =>
        features.reduce((n, { properties }) => n + properties[figure], 0)
      const points = event.days.reduce((n, day) => n + day.points, 0)
      expect({ zoom, points: sum('count'), users: sum('users') }).toEqual({
        zoom,
        points,
        users: PRESENT.length,
      })
    }
  })

  test('the live map: everyone at the place of their last point', async () => {
    const since = new Date(NOON - 5 * DAY).toISOString()
    // Each replica removes an erased pilgrim at its next refresh.
    const points = await until(
      async () => {
        const map = await dataOf(await read(`data?limit=5000&since=${since}`), dataEndpoint)
        return map.points.length === PRESENT.length && map.points
      },
      'three people on the map',
      { everyMs: 100 },
    )
    const byId = new Map(points.map((point) => [point.userId, point]))
    for (const person of PRESENT) {
      const last = person.batches.flat().reduce((a, b) => (b.t > a.t ? b : a))
      expect(byId.get(person.id)).toMatchObject({
        lat: last.lat,
        lng: last.lng,
        recorded_at: new Date(last.t).toISOString(),
      })
    }
  })

  test('surveys: counts, list and CSV contain the same answers', async () => {
    const surveys = await dataOf(await read('admin/surveys'), surveysEndpoint)
    const [ada, bo] = [PEOPLE[0]!.surveys.at(-1)!, PEOPLE[1]!.surveys[0]!]
    expect(surveys).toMatchObject({
      total: 2,
      responses: { q1: 2, q2: 1, q3: 2, q4_why: 1 },
      counts: { q1: { yes: 2 }, q2: { '2': 1 }, q3: { a: 1, b: 2 }, q4_why: { '=HYPERLINK("http://x")': 1 } },
    })
    expect(surveys.items.map(({ userId, answers }) => [userId, answers])).toEqual([
      [PEOPLE[0]!.id, ada],
      [PEOPLE[1]!.id, bo],
    ])
    const csv = await stack.fetch('/api/event/admin/surveys', {
      headers: { ...admin('manager'), Accept: 'text/csv' },
    })
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    const [at1, at2] = surveys.items.map(({ submitted_at }) => submitted_at)
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await csv.arrayBuffer())
    // Managers get the rows in an order that says nothing about the ids.
    const [head, ...rows] = text.split('\r\n')
    expect([head, ...rows.sort()]).toEqual([
      '\uFEFF"userId","display_name","submitted_at","revision","form_version","q1","q2","q3","q4_why"',
      '',
      `"totals-ada","Ada %_\\ 100","${at1}","2","","yes","2","a; b","'=HYPERLINK(""http://x"")"`,
      `"totals-bo","Bo","${at2}","1","","yes","","b",""`,
    ])
  })

  test('the list of users in every order, in pages of one, and by search', async () => {
    const pageBy = async (query: string) => {
      const found: UserRow[] = []
      const headers = admin('manager')
      for (let cursor = ''; ;) {
        const page = await dataOf(await read(`admin/users?limit=1&${query}${cursor}`, headers), usersEndpoint)
        found.push(...page.items)
        if (page.next_cursor === null) return found.map(({ userId }) => userId)
        cursor = `&cursor=${page.next_cursor}`
      }
    }
    // A pilgrim without a point has no totals and no position, but is listed.
    await post(stack, 'user/sync', { user_id: 'totals-el', display_name: 'Éléonore' })
    const everybody = [
      ...PRESENT.map((person) => ({ id: person.id, ...mine(person) })),
      { id: 'totals-el', mm: 0, checkins: 0, lastMs: 0 },
    ]
    for (const [sort, figure] of [
      ['km', 'mm'],
      ['checkins', 'checkins'],
      ['last_seen', 'lastMs'],
    ] as const) {
      const ordered = everybody
        .toSorted((a, b) => b[figure] - a[figure] || (a.id < b.id ? 1 : -1))
        .map(({ id }) => id)
      expect({ sort, ids: await pageBy(`sort=${sort}`) }).toEqual({ sort, ids: ordered })
      expect({ sort, ids: await pageBy(`sort=${sort}&order=asc`) }).toEqual({
        sort,
        ids: ordered.toReversed(),
      })
    }
    expect(await pageBy('sort=km&search=TOTALS-')).toHaveLength(4)
    expect(await pageBy(`search=${encodeURIComponent('%_\\')}`)).toEqual(['totals-ada'])
    expect(await pageBy(`search=${encodeURIComponent('ÉLÉ')}&sort=last_seen`)).toEqual(['totals-el'])
    expect(await pageBy('search=totals-di')).toEqual([])
    const { next_cursor } = await dataOf(await read('admin/users?limit=1&sort=km'), usersEndpoint)
    await sentenceOf(await read(`admin/users?sort=checkins&cursor=${next_cursor}`), 400, 'invalid-request')
  })
})
