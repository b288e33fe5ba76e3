/** A chart over time with a brush: drag to select a time, double-click to show everything. */
import uPlot from 'uplot'
import type { Data } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { theme } from '../../../frame/theme.ts'
import type { Colour } from '../../../map/view.ts'
import { date, instantOf, minute, short, shortDay, timeZone } from '../../clock.ts'
import { DENSITY, isPrinting, onPaper, onScreen } from '../../parts/picture.ts'
import { words } from '../../words.ts'
import { effect, untracked } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** Height and font size in rem, which grow on a wall display. */
const HEIGHT_REM = 17
const TYPE_REM = 0.75
/** Font size on a wall display, which is read from afar. */
const WALL_TYPE_REM = 1
const wall = matchMedia('(width >= 200rem)')
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

const onWindow = (frame: HTMLElement): Sheet => ({
  width: frame.clientWidth,
  height: HEIGHT_REM * rem(),
  typePx: (wall.matches ? WALL_TYPE_REM : TYPE_REM) * rem(),
  colour: onScreen(),
})

/** Width of the report's paper at its zoom, and height of the room for a chart there. */
const [PAPER_WIDTH, PAPER_HEIGHT] = [1_112, 205]

/** On paper the size does not depend on the window's. */
function onSheet(): Sheet {
  const scale = DENSITY / devicePixelRatio
  return { width: PAPER_WIDTH * scale, height: PAPER_HEIGHT * scale, typePx: 14 * scale, colour: onPaper }
}

interface TimeChartProps extends Charted {
  readonly onRange: (range: Range | null) => void
}

export function TimeChart(props: TimeChartProps) {
  const { rows, series, label, hourly } = props
  const frame = useRef<HTMLElement>(null)
  const plot = useRef<uPlot | null>(null)
  const chosen = useRef<Range | null>(null)
  const grain = useRef(hourly)
  const latest = useRef(props)
  latest.current = props
  const chosenTheme = theme.value
  useEffect(() => {
    const element = frame.current!
    // A selected part of a day contains no whole day.
    if (grain.current !== hourly) chosen.current = null
    grain.current = hourly
    const draw = (sheet: Sheet): void => {
      const range = chosen.current
      const onRange = (seen: Range | null): void => {
        chosen.current = seen
        latest.current.onRange(seen)
      }
      plot.current?.destroy()
      plot.current = new uPlot(
        optionsOf(sheet, () => latest.current, onRange),
        dataOf(latest.current),
        element,
      )
      show(plot.current, range)
    }
    const unwatch = effect(() => {
      const isPrinted = isPrinting.value
      untracked(() => draw(isPrinted ? onSheet() : onWindow(element)))
    })
    const resized = new ResizeObserver(() => {
      if (!isPrinting.peek()) plot.current?.setSize(onWindow(element))
    })
    resized.observe(element)
    return () => {
      unwatch()
      resized.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
  }, [series, label, hourly, chosenTheme])
  // Keeps the selection; otherwise scrolls to the newest hour.
  useEffect(() => plot.current?.setData(dataOf({ rows, series }), chosen.current === null), [rows, series])
  return <figure ref={frame} class="time-chart" aria-label={label} />
}

// Drawing of the chart over time, on the screen and on paper.

interface Charted {
  readonly rows: readonly Row[]
  readonly series: Series
  readonly label: string
  /** Whether a row is an hour; otherwise a day. */
  readonly hourly: boolean
  readonly marks: readonly Mark[]
}

/** Where a chart is drawn; lengths in CSS pixels. */
interface Sheet {
  readonly width: number
  readonly height: number
  readonly typePx: number
  readonly colour: Colour
}

type Named = Pick<Charted, 'label' | 'hourly'>

/** Start and end of a time, epoch seconds. */
export type Range = readonly [from: number, to: number]

const dataOf = ({ rows, series }: Pick<Charted, 'rows' | 'series'>): uPlot.AlignedData => [
  rows.map(({ t }) => t),
  rows.map((row) => row[series]),
]

const show = (plot: uPlot, range: Range | null): void => {
  if (range !== null) plot.setScale('x', { min: range[0], max: range[1] })
}

/** Room above the highest value, for the names of events. */
const NAME_ROOM = 1.25
/** Lengths of the chart in units of its font size. */
const TICK_EM = 6
const ROW_EM = 2.5
const PAD_EM = 1.8
const AXIS_EM = { x: 4, y: 4.3, label: 1.9 }
/** Font size at which the line is one pixel wide. */
const LINE_TYPE_PX = 6

const DAY_S = 86_400
const HALF_S = DAY_S / 2

/**
 * Labels of the horizontal axis: the date at midnight and at the left end, hours between; only dates over a
 * week.
 */
function timeNames(_: uPlot, splits: number[]): string[] {
  const long = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > 7 * DAY_S
  return splits.map((t, i) => {
    const [time, day] = [minute(t * 1_000), shortDay(t * 1_000)]
    if (long || time === '00:00') return day
    return i === 0 ? `${day}\n${time}` : time
  })
}

const dayNames = (_: uPlot, splits: number[]): string[] => splits.map((t) => shortDay(t * 1_000))

/** Half a day beside each day; around a single time too, which uPlot would place in years. */
function rangeOf({ data: [times] }: uPlot, hourly: boolean, min: number, max: number): [number, number] {
  const isSingle = times.length === 1
  if (hourly && !isSingle) return [min, max]
  return [min - HALF_S, (isSingle ? min : max) + HALF_S]
}

/** Maximum number of day labels. */
const MOST_DAYS = 12
function daySplits(plot: uPlot): number[] {
  const days = [...plot.data[0]]
  const step = Math.ceil(days.length / MOST_DAYS)
  return days.filter((_, i) => i % step === 0)
}

function axis({ typePx, colour }: Sheet, values: uPlot.Axis.Values, em: number, label?: string): uPlot.Axis {
  const line = { stroke: colour('line'), width: 1 }
  const font = `${typePx}px system-ui`
  return {
    stroke: colour('soft'),
    grid: line,
    ticks: line,
    font,
    values,
    size: em * typePx,
    ...(label === undefined ? {} : { label, labelFont: font, labelSize: AXIS_EM.label * typePx }),
  }
}

function seriesOf({ typePx, colour }: Sheet, { label, hourly }: Named): uPlot.Series[] {
  const jade = colour('jade')
  return [
    {
      label: words.peek().people.point.at,
      value: (_, t) => (t === null ? '' : hourly ? date(t * 1_000) : shortDay(t * 1_000)),
    },
    {
      label,
      stroke: jade,
      fill: `color-mix(in srgb, ${jade} 18%, transparent)`,
      width: typePx / LINE_TYPE_PX,
      points: { show: ({ data: [times] }) => times.length === 1 },
      ...(hourly ? {} : { paths: uPlot.paths.bars!({ size: [0.6, 90] }) }),
      value: (_, value) => (value === null ? '' : figure(value)),
    },
  ]
}

/**
 * The options of a chart.
 * @param latest returns rows and marks at each draw
 * @param onRange called with the visible range; null: everything
 */
function optionsOf(
  sheet: Sheet,
  latest: () => Charted,
  onRange: (range: Range | null) => void,
): uPlot.Options {
  const { width, height, typePx, colour } = sheet
  const { label, hourly } = latest()
  return {
    width,
    height,
    tzDate: (t) => uPlot.tzDate(new Date(t * 1_000), timeZone.value ?? 'UTC'),
    // Half of the last label of the horizontal axis extends beyond it.
    padding: [null, PAD_EM * typePx, null, null],
    cursor: { drag: { x: true, y: false, setScale: true } },
    legend: { live: true },
    scales: {
      x: {
        time: true,
        range: (plot, min, max) => rangeOf(plot, hourly, min, max),
      },
      y: { range: (_, __, max) => [0, Math.max(1, max * NAME_ROOM)] },
    },
    axes: [
      hourly
        ? { ...axis(sheet, timeNames, AXIS_EM.x), space: TICK_EM * typePx }
        : { ...axis(sheet, dayNames, AXIS_EM.x), splits: daySplits },
      {
        ...axis(sheet, (_, splits) => splits.map((value) => short(value)), AXIS_EM.y, label),
        space: ROW_EM * typePx,
      },
    ],
    series: seriesOf(sheet, { label, hourly }),
    hooks: {
      draw: [(plot) => drawMarks(plot, latest().marks, typePx, colour)],
      setScale: [
        (plot, key) => {
          if (key !== 'x') return
          const { min = 0, max = 0 } = plot.scales['x'] as { min?: number; max?: number }
          const { rows } = latest()
          onRange(min <= (rows[0]?.t ?? 0) && max >= (rows.at(-1)?.t ?? 0) ? null : [min, max])
        },
      ],
    },
  }
}

// Events of the history, as vertical lines in a chart over time.

type Kind = Timeline['entries'][number]['kind']

interface Mark {
  /** Epoch seconds. */
  readonly t: number
  readonly kind: Kind
}

const HOUR_S = 3_600

/** @param last epoch seconds of the chart's last hour, which includes all events in it */
export const marksOf = ({ entries }: Timeline, last: number): readonly Mark[] =>
  entries.map(({ at, kind }) => {
    const t = Date.parse(at) / 1_000
    return { t: t < last + HOUR_S ? Math.min(t, last) : t, kind }
  })

/** Colour tokens; a pause stands out. */
const COLOURS: Readonly<Record<Kind, string>> = {
  started: 'soft',
  paused: 'warning',
  resumed: 'good',
  ended: 'ink',
  push: 'soft',
}
const DASH = [4, 4]
/** Rows of names above the values (`NAME_ROOM` of the chart), and the height of each in font sizes. */
const NAME_LINES = 3
const NAME_HEIGHT = 1.3

interface Group {
  readonly xs: number[]
  readonly kinds: Kind[]
}

/** `Paused, Resumed, Message ×3`: each kind once, in order of time. */
function nameOf(kinds: readonly Kind[]): string {
  const names = words.peek().lifecycle.kinds
  const counts = new Map<Kind, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, n]) => (n === 1 ? names[kind] : `${names[kind]} ×${n}`)).join(' · ')
}

/** The visible marks; marks of the same hour or day are closer than a letter, and form a group. */
function groupsOf(plot: uPlot, marks: readonly Mark[], size: number): Group[] {
  const { min = -Infinity, max = Infinity } = plot.scales['x'] as { min?: number; max?: number }
  const groups: Group[] = []
  for (const { t, kind } of marks) {
    if (t < min || t > max) continue
    const x = Math.round(plot.valToPos(t, 'x', true))
    const last = groups.at(-1)
    if (last !== undefined && x - last.xs[0]! < size) {
      last.xs.push(x)
      last.kinds.push(kind)
    } else groups.push({ xs: [x], kinds: [kind] })
  }
  return groups
}

/**
 * Draws each visible mark. A name is placed in the first row with room; without room, only the mark's line is
 * drawn, and the list below the chart explains it.
 */
function drawMarks(plot: uPlot, marks: readonly Mark[], typePx: number, colour: Colour): void {
  const { ctx: context, bbox } = plot
  const size = typePx * devicePixelRatio
  const ground = colour('surface')
  const lineEnds = Array.from({ length: NAME_LINES }, () => -Infinity)
  context.save()
  context.font = `${size}px system-ui`
  context.textAlign = 'left'
  context.lineJoin = 'round'
  for (const { xs, kinds } of groupsOf(plot, marks, size)) {
    context.lineWidth = devicePixelRatio
    context.setLineDash(DASH.map((length) => length * devicePixelRatio))
    for (const [i, x] of xs.entries()) {
      context.strokeStyle = colour(COLOURS[kinds[i]!])
      context.beginPath()
      context.moveTo(x, bbox.top)
      context.lineTo(x, bbox.top + bbox.height)
      context.stroke()
    }
    const name = nameOf(kinds)
    const width = context.measureText(name).width
    const right = bbox.left + bbox.width
    const from = Math.max(bbox.left, Math.min(xs[0]! + size / 3, right - width))
    const line = lineEnds.findIndex((end) => end < from)
    if (line === -1) continue
    context.fillStyle = colour(COLOURS[kinds.length === 1 ? kinds[0]! : 'ended'])
    // A background separates it from the lines behind.
    context.setLineDash([])
    context.lineWidth = size / 3
    context.strokeStyle = ground
    const y = bbox.top + size * (1 + line * NAME_HEIGHT)
    context.strokeText(name, from, y)
    context.fillText(name, from, y)
    lineEnds[line] = from + width + size
  }
  context.restore()
}

export type Timeline = Data<'readTimeline'>

export const SERIES = ['points', 'checkins', 'pilgrims', 'km', 'carbon_kg'] as const
export type Series = (typeof SERIES)[number]
export type Grain = 'hours' | 'days'

export interface Row extends Readonly<Record<Series, number>> {
  /** Start of the hour or day, epoch seconds. */
  readonly t: number
  /** As in the service's response: an instant, or a day of the event's zone. */
  readonly name: string
}

/** Hours, with zeros for empty ones, or days. A day is placed at its noon. */
export function rowsOf({ hours, days }: Timeline, grain: Grain): Row[] {
  if (grain === 'days')
    return days.map((row) => ({
      ...row,
      t: Date.parse(instantOf(`${row.day}T12:00`)) / 1_000,
      name: row.day,
    }))
  const known = hours.map((row) => ({ ...row, t: Date.parse(row.hour) / 1_000, name: row.hour }))
  const byTime = new Map(known.map((row) => [row.t, row]))
  const [first, last] = [known[0]?.t, known.at(-1)?.t]
  if (first === undefined || last === undefined) return []
  // Points of wrong clocks must not create a row for each hour of years: only the hours beside a known one are empty rows.
  const times =
    last - first < MOST_HOURS * HOUR_S
      ? Array.from({ length: (last - first) / HOUR_S + 1 }, (_, i) => first + i * HOUR_S)
      : known.flatMap(({ t }) => [t - HOUR_S, t, t + HOUR_S])
  return [...new Set(times)]
    .filter((t) => t >= first && t <= last)
    .toSorted((a, b) => a - b)
    .map((t) => byTime.get(t) ?? { ...EMPTY, t, name: new Date(t * 1_000).toISOString() })
}

/** A longer chart has rows only around hours with values. */
const MOST_HOURS = 2_000

const EMPTY = { points: 0, checkins: 0, pilgrims: 0, km: 0, carbon_kg: 0 }

/** Sums of the rows in a time. Pilgrims are not summed: a person who walks in two hours is one pilgrim. */
export function sumBetween(rows: readonly Row[], from: number, to: number): Readonly<Record<Series, number>> {
  const sums = { ...EMPTY }
  for (const row of rows)
    if (row.t >= from && row.t <= to) {
      for (const name of SERIES)
        if (name === 'pilgrims') sums.pilgrims = Math.max(sums.pilgrims, row.pilgrims)
        else sums[name] += row[name]
    }
  return sums
}

/** The first row with the highest value in a time; null if there is none. */
export function highestBetween(rows: readonly Row[], series: Series, from: number, to: number): Row | null {
  const within = rows.filter(({ t }) => t >= from && t <= to)
  return within.reduce<Row | null>((most, row) => (row[series] > (most?.[series] ?? 0) ? row : most), null)
}
