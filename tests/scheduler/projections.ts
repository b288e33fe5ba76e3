/** The projections of the flush: read from the tables, and recomputed simply from all points. */
import { expect } from 'bun:test'
import { rebuild } from '#services/scheduler/rebuild.ts'
import type { Database } from '#shared/stores/db/db.ts'
import type { Calendar } from '#shared/core/rules/calendar.ts'
import type { FoldPoint } from '#shared/core/distance/points-to-distance.ts'
import { recompute } from '#tests/distance/reference-fold.ts'
import { cellOf, type Counts, unpackCounts } from '#shared/core/map/cell-counts.ts'

/** Points and pilgrims by `zoom span start column/row`. */
type Cells = Record<string, readonly [points: number, users: number]>

/** A point, or a latest position, in the area. */
interface Placed {
  readonly t: number
  readonly lat: number
  readonly lng: number
}

/** The contents of the tiles, whose sums and separate lists of pilgrims are checked as well. */
async function readCells({ sql }: Database): Promise<Cells> {
  const rows = await sql<TileRow[]>`
    SELECT zoom, span, zoom || ' ' || span || ' ' || (extract(epoch FROM start) * 1000)::bigint AS key, x, y,
           points::float8 AS points, users, encode(counts, 'base64') AS packed,
           encode(people, 'base64') AS apart
    FROM cell_tiles`
  const cells: Record<string, [number, number]> = {}
  for (const { zoom, span, key, x, y, points, users, packed, apart } of rows) {
    const counts = cellsIn(packed, x, y)
    let [allPoints, allUsers] = [0, 0]
    for (let i = 0; i < counts.length; i += 3) {
      const [mine, people] = [counts[i + 1]!, counts[i + 2]!]
      const cell = cellOf(counts[i]!, zoom)
      cells[`${key} ${cell.x}/${cell.y}`] = [mine, people]
      allPoints += mine
      allUsers += people
    }
    if (allPoints !== points || allUsers !== users)
      throw new Error(`tile ${key} ${x}/${y} says ${points}, ${users} and holds ${allPoints}, ${allUsers}`)
    const people = counts.flatMap((value, i) => {
      if (i % 3 > 0 || counts[i + 2] === 0) return []
      return [value, 0, counts[i + 2]!]
    })
    const isTileStored = zoom === 14 && span !== 'all'
    if (isTileStored ? !Bun.deepEquals(cellsIn(apart!, x, y), people) : apart !== null)
      throw new Error(`tile ${key} ${x}/${y} has others apart than ${people.join()}`)
  }
  return cells
}

interface TileRow {
  readonly zoom: number
  readonly span: string
  readonly key: string
  readonly x: number
  readonly y: number
  readonly points: number
  readonly users: number
  readonly packed: string
  readonly apart: string | null
}

const cellsIn = (packed: string, x: number, y: number): Counts =>
  unpackCounts(Uint8Array.fromBase64(packed), tileNumber(x, y) * 256 ** 2)

/** Interleaves the bits of row and column, the row's first. */
const tileNumber = (x: number, y: number): number => {
  const bits = (value: number) => value.toString(2).padStart(24, '0').split('')
  const rows = bits(y)
  return parseInt(
    bits(x)
      .map((bit, i) => `${rows[i]}${bit}`)
      .join(''),
    2,
  )
}

/** @param erased points of erased people: cells of zoom 18 by hour */
function plainCells(
  points: readonly Placed[],
  latest: readonly Placed[],
  erased: readonly { hour: number; x: number; y: number; points: number }[],
  calendar: Calendar,
): Cells {
  const cells: Record<string, [number, number]> = {}
  const add = (t: number, zoom: number, x: number, y: number, count: number, users: number) => {
    const spans = [`hour ${calendar.hourStart(t)}`, `day ${calendar.span(calendar.day(t))[0]}`, 'all 0']
    for (const span of spans) {
      // Days are not stored at the finest zoom.
      if (zoom === 18 && span.startsWith('day')) continue
      const cell = (cells[`${zoom} ${span} ${x}/${y}`] ??= [0, 0])
      cell[0] += count
      cell[1] += users
    }
  }
  const place = ({ t, lat, lng }: Placed, count: number, users: number) => {
    // 0.2 degrees at zoom 6, halving.
    for (const zoom of [10, 14, 18]) {
      const perFifth = 2 ** (zoom - 6)
      add(
        t,
        zoom,
        Math.floor((lng * 5 + 900) * perFifth),
        Math.floor((lat * 5 + 450) * perFifth),
        count,
        users,
      )
    }
  }
  for (const point of points) place(point, 1, 0)
  for (const position of latest) place(position, 0, 1)
  for (const { hour, x, y, points: count } of erased)
    for (const zoom of [10, 14, 18]) {
      const width = 2 ** (18 - zoom)
      add(hour, zoom, Math.floor(x / width), Math.floor(y / width), count, 0)
    }
  return cells
}

const HOUR_MS = 3_600_000

/** Every projection, rows by key, without empty rows. */
interface Projections {
  readonly totals: Record<string, object>
  readonly days: Record<string, object>
  readonly eventHours: Record<string, object>
  readonly eventDays: Record<string, number>
  readonly eventModes: Record<string, object>
  readonly cells: Cells
}

/** Expects every projection to equal the recomputation from the stored points, to the last digit. */
export async function expectProjections(db: Database, calendar: Calendar): Promise<void> {
  expect(await readProjections(db)).toEqual(await recomputeProjections(db, calendar))
}

/** Expects `bun run rebuild` to find no difference. */
export async function expectNothingToRebuild(harness: {
  readonly db: Database
  readonly calendar: Calendar
}): Promise<void> {
  const found: string[] = []
  await rebuild(harness.db, harness.calendar, { check: true, tell: (line) => void found.push(line) })
  expect(found).toEqual([])
}

const keyed = <Row extends { key: string }, Value>(rows: readonly Row[], value: (row: Row) => Value) =>
  Object.fromEntries(rows.map((row) => [row.key, value(row)]))

const withoutKey = ({ key: _key, ...rest }: { readonly key: string }): object => rest

async function readProjections(db: Database): Promise<Projections> {
  const { sql } = db
  const totals = await sql<{ key: string }[]>`
    SELECT user_id AS key, points, checkins, distance_mm::float8 AS mm, carbon_mg::float8 AS mg,
           (extract(epoch FROM first_seen) * 1000)::float8 AS first, last_lat AS lat, last_lng AS lng,
           (extract(epoch FROM last_seen) * 1000)::float8 AS last
    FROM pilgrim_totals`
  const days = await sql<{ key: string }[]>`
    SELECT user_id || ' ' || day AS key, points, checkins, distance_mm::float8 AS mm, carbon_mg::float8 AS mg, hours,
           CASE WHEN anchor_at IS NOT NULL THEN
             json_build_array(anchor_lat, anchor_lng, (extract(epoch FROM anchor_at) * 1000)::float8) END AS anchor,
           CASE WHEN before_at IS NOT NULL THEN
             json_build_array(before_lat, before_lng, (extract(epoch FROM before_at) * 1000)::float8) END AS before
    FROM pilgrim_days`
  const eventHours = await sql<{ key: string }[]>`
    SELECT (extract(epoch FROM hour) * 1000)::bigint::text AS key, points, checkins, pilgrims,
           distance_mm::float8 AS mm, carbon_mg::float8 AS mg
    FROM event_hours`
  const eventDays = await sql<
    { key: string; pilgrims: number }[]
  >`SELECT day::text AS key, pilgrims FROM event_days`
  const eventModes = await sql<{ key: string }[]>`
    SELECT day || ' ' || mode AS key, distance_mm::float8 AS mm, carbon_mg::float8 AS mg FROM event_modes
    WHERE distance_mm <> 0 OR carbon_mg <> 0`
  return {
    totals: keyed(totals, withoutKey),
    days: keyed(days, withoutKey),
    eventHours: keyed(eventHours, withoutKey),
    eventDays: keyed(eventDays, ({ pilgrims }) => pilgrims),
    eventModes: keyed(eventModes, withoutKey),
    cells: await readCells(db),
  }
}

const isSomewhere = ({ lat, lng }: FoldPoint): boolean => lat !== 0 || lng !== 0

type Row = FoldPoint & { readonly user_id: string; readonly in_range: boolean }

async function recomputeProjections({ sql }: Database, calendar: Calendar): Promise<Projections> {
  const rows = await sql<Row[]>`
    SELECT user_id, kind, (extract(epoch FROM sent_at) * 1000)::float8 AS "sentMs",
           (extract(epoch FROM recorded_at) * 1000)::float8 AS t, lat, lng, mode, in_range,
           coalesce(accuracy >= 100, false) OR (lat = 0 AND lng = 0) AS rough
    FROM gps_points`
  const erased = await sql<{ hour: number; x: number; y: number; points: number }[]>`
    SELECT (extract(epoch FROM hour) * 1000)::float8 AS hour, x, y, points FROM erased_cells`
  const all: Projections = { totals: {}, days: {}, eventHours: {}, eventDays: {}, eventModes: {}, cells: {} }
  for (const [userId, points] of Map.groupBy(rows, ({ user_id }) => user_id))
    addPilgrim(
      all,
      userId,
      points.filter(({ in_range }) => in_range),
      calendar,
    )
  const latest = Object.values(
    all.totals as Record<string, { lat: number; lng: number; last: number | null }>,
  )
  const cells = plainCells(
    rows.filter((row) => row.in_range && isSomewhere(row)),
    latest.flatMap(({ lat, lng, last }) => (last === null ? [] : [{ t: last, lat, lng }])),
    erased,
    calendar,
  )
  return { ...all, cells }
}

const plus = (row: object | undefined, more: Record<string, number>): Record<string, number> => {
  const sums = { ...(row as Record<string, number> | undefined) }
  for (const [name, figure] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + figure
  return sums
}

function addPilgrim(
  all: Projections,
  userId: string,
  points: readonly FoldPoint[],
  calendar: Calendar,
): void {
  const periods = recompute(points, calendar)
  let total: Record<string, number> = { points: 0, checkins: 0, mm: 0, mg: 0 }
  for (const [day, { points, checkins, distanceMm: mm, carbonMg: mg, end }] of Object.entries(periods.days)) {
    const [startMs] = calendar.span(day)
    let hours = 0
    for (const hour of Object.keys(periods.hours).map(Number))
      if (calendar.day(hour) === day) hours += 2 ** ((hour - startMs) / HOUR_MS)
    const [anchor, before] = [end.anchor, end.before].map((fix) => (fix ? [fix.lat, fix.lng, fix.t] : null))
    all.days[`${userId} ${day}`] = { points, checkins, mm, mg, hours, anchor, before }
    all.eventDays[day] = (all.eventDays[day] ?? 0) + 1
    total = plus(total, { points, checkins, mm, mg })
  }
  all.totals[userId] = { ...total, ...seen(points) }
  for (const [hour, { points, checkins, distanceMm: mm, carbonMg: mg }] of Object.entries(periods.hours))
    all.eventHours[hour] = plus(all.eventHours[hour], { points, checkins, pilgrims: 1, mm, mg })
  for (const [key, { distanceMm: mm, carbonMg: mg }] of Object.entries(periods.modes))
    all.eventModes[key] = plus(all.eventModes[key], { mm, mg })
}

/** First and last instant, and the last position: the check-in's if a track point has the same instant. */
function seen(all: readonly FoldPoint[]): object {
  const points = all.filter(isSomewhere)
  if (points.length === 0) return { first: null, last: null, lat: null, lng: null }
  const first = Math.min(...points.map(({ t }) => t))
  const last = Math.max(...points.map(({ t }) => t))
  const there = points.filter(({ t }) => t === last)
  // The fold's order: check-ins first, then by the time sent.
  there.sort((a, b) => (a.kind === b.kind ? a.sentMs - b.sentMs : a.kind === 'c' ? -1 : 1))
  const { lat, lng } = there[0]!
  return { first, last, lat, lng }
}
