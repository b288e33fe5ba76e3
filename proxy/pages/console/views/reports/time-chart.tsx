/** A chart over time with a brush: dragging chooses a time, a double click shows everything. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../../../frame/theme.ts'
import { date, minute, number, short, shortDay, timeZone } from '../../clock.ts'
import { words } from '../../words.ts'
import { drawMarks, type Mark } from './chart-marks.ts'
import type { Row, Series } from './series.ts'

/** Height and type in the page's own size, which grows on a wall. */
const HEIGHT_REM = 17
const TYPE_REM = 0.75
/** On a wall it is read from afar. */
const WALL_TYPE_REM = 1
const wall = matchMedia('(width >= 200rem)')
const typePx = (): number => (wall.matches ? WALL_TYPE_REM : TYPE_REM) * rem()
/** Room between two names of the horizontal axis. */
const TICK_REM = 4.5
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

export interface TimeChartProps {
  readonly rows: readonly Row[]
  readonly series: Series
  readonly label: string
  /** Whether each row is an hour; else a day. */
  readonly hourly: boolean
  /** What happened to the event. */
  readonly marks: readonly Mark[]
  /** Null: everything is shown. */
  readonly onRange: (range: readonly [from: number, to: number] | null) => void
}

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const dataOf = (rows: readonly Row[], series: Series): uPlot.AlignedData => [
  rows.map(({ t }) => t),
  rows.map((row) => row[series]),
]

/** Above the highest value, for the names of what happened. */
const NAME_ROOM = 1.25

const DAY_S = 86_400
const HALF_S = DAY_S / 2

/** Names of the horizontal axis: the date at midnight and at its left end, hours between; dates alone over a week. */
function timeNames(_: uPlot, splits: number[]): string[] {
  const long = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > 7 * DAY_S
  return splits.map((t, i) => {
    const [time, day] = [minute(t * 1_000), shortDay(t * 1_000)]
    if (long || time === '00:00') return day
    return i === 0 ? `${day}\n${time}` : time
  })
}

const dayNames = (_: uPlot, splits: number[]): string[] => splits.map((t) => shortDay(t * 1_000))

/** Days that are named: all, or as many as have room. */
const MOST_DAYS = 12
function daySplits(plot: uPlot): number[] {
  const days = [...plot.data[0]]
  const step = Math.ceil(days.length / MOST_DAYS)
  return days.filter((_, i) => i % step === 0)
}

function axis(values: uPlot.Axis.Values, size: number, label?: string): uPlot.Axis {
  const line = { stroke: colour('--line'), width: 1 }
  const font = `${typePx()}px system-ui`
  return {
    stroke: colour('--soft'),
    grid: line,
    ticks: line,
    font,
    values,
    size: (size * typePx()) / TYPE_REM,
    ...(label === undefined ? {} : { label, labelFont: font, labelSize: (1.4 * typePx()) / TYPE_REM }),
  }
}

function optionsOf(
  { label, hourly, onRange }: Pick<TimeChartProps, 'label' | 'hourly' | 'onRange'>,
  width: number,
  ends: () => readonly [number, number],
  marks: () => readonly Mark[],
): uPlot.Options {
  return {
    width,
    height: HEIGHT_REM * rem(),
    tzDate: (t) => uPlot.tzDate(new Date(t * 1_000), timeZone.value ?? 'UTC'),
    cursor: { drag: { x: true, y: false, setScale: true } },
    legend: { live: true },
    scales: {
      x: { time: true, range: (_, min, max) => (hourly ? [min, max] : [min - HALF_S, max + HALF_S]) },
      y: { range: (_, __, max) => [0, Math.max(1, max * NAME_ROOM)] },
    },
    axes: [
      hourly
        ? { ...axis(timeNames, 3), space: TICK_REM * rem() }
        : { ...axis(dayNames, 3), splits: daySplits },
      axis((_, splits) => splits.map((value) => short(value)), 3.2, label),
    ],
    series: [
      {
        label: words.peek().reports.when,
        value: (_, t) => (t === null ? '' : hourly ? date(t * 1_000) : shortDay(t * 1_000)),
      },
      {
        label,
        stroke: colour('--jade'),
        fill: `color-mix(in srgb, ${colour('--jade')} 18%, transparent)`,
        width: 2,
        points: { show: false },
        ...(hourly ? {} : { paths: uPlot.paths.bars!({ size: [0.6, 90] }) }),
        value: (_, value) => (value === null ? '' : number(value)),
      },
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, marks(), typePx(), colour)],
      setScale: [
        (plot, key) => {
          if (key !== 'x') return
          const { min = 0, max = 0 } = plot.scales['x'] as { min?: number; max?: number }
          const [first, last] = ends()
          onRange(min <= first && max >= last ? null : [min, max])
        },
      ],
    },
  }
}

export function TimeChart({ rows, series, label, hourly, marks, onRange }: TimeChartProps) {
  const frame = useRef<HTMLElement>(null)
  const plot = useRef<uPlot | null>(null)
  const chosen = useRef(false)
  const latest = useRef({ rows, marks, onRange })
  latest.current = { rows, marks, onRange }
  const chosenTheme = theme.value
  useEffect(() => {
    const element = frame.current!
    const ends = () => [latest.current.rows[0]?.t ?? 0, latest.current.rows.at(-1)?.t ?? 0] as const
    const report: TimeChartProps['onRange'] = (range) => {
      chosen.current = range !== null
      latest.current.onRange(range)
    }
    const made = new uPlot(
      optionsOf({ label, hourly, onRange: report }, element.clientWidth, ends, () => latest.current.marks),
      dataOf(latest.current.rows, series),
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: HEIGHT_REM * rem() }),
    )
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [series, label, hourly, chosenTheme])
  // What is chosen stays chosen; else the newest hour comes into sight.
  useEffect(() => plot.current?.setData(dataOf(rows, series), !chosen.current), [rows, series])
  return <figure ref={frame} class="time-chart" aria-label={label} />
}
