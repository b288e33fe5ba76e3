/** How the chart over time is drawn: on the screen, on paper, and as a picture. */
import uPlot from 'uplot'
import type { Colour } from '../../../map/view.ts'
import { date, minute, number, short, shortDay, timeZone } from '../../clock.ts'
import { words } from '../../words.ts'
import { drawMarks, type Mark } from './chart-marks.ts'
import type { Row, Series } from './series.ts'

/** What a chart shows. */
export interface Charted {
  readonly rows: readonly Row[]
  readonly series: Series
  readonly label: string
  /** Whether each row is an hour; else a day. */
  readonly hourly: boolean
  /** What happened to the event. */
  readonly marks: readonly Mark[]
}

/** Where a chart is drawn; lengths in CSS pixels. */
export interface Sheet {
  readonly width: number
  readonly height: number
  /** Size of its type. */
  readonly typePx: number
  readonly colour: Colour
}

type Named = Pick<Charted, 'label' | 'hourly'>

/** Start and end of a time, epoch seconds. */
export type Range = readonly [from: number, to: number]

export const dataOf = ({ rows, series }: Pick<Charted, 'rows' | 'series'>): uPlot.AlignedData => [
  rows.map(({ t }) => t),
  rows.map((row) => row[series]),
]

/** Above the highest value, for the names of what happened. */
const NAME_ROOM = 1.25
/** Lengths of the chart in sizes of its type. */
const TICK_EM = 6
const ROW_EM = 2.5
const PAD_EM = 1.8
const AXIS_EM = { x: 4, y: 4.3, label: 1.9 }
/** Of the line, by type of which size it is as wide as a pixel. */
const LINE_TYPE_PX = 6

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
      label: words.peek().reports.when,
      value: (_, t) => (t === null ? '' : hourly ? date(t * 1_000) : shortDay(t * 1_000)),
    },
    {
      label,
      stroke: jade,
      fill: `color-mix(in srgb, ${jade} 18%, transparent)`,
      width: typePx / LINE_TYPE_PX,
      points: { show: false },
      ...(hourly ? {} : { paths: uPlot.paths.bars!({ size: [0.6, 90] }) }),
      value: (_, value) => (value === null ? '' : number(value)),
    },
  ]
}

/**
 * @param ends of all that is known
 * @param marks asked at each drawing
 * @param onRange told what is in sight; null: everything
 */
export function optionsOf(
  sheet: Sheet,
  { label, hourly }: Named,
  ends: () => Range,
  marks: () => readonly Mark[],
  onRange: (range: Range | null) => void,
): uPlot.Options {
  const { width, height, typePx, colour } = sheet
  return {
    width,
    height,
    tzDate: (t) => uPlot.tzDate(new Date(t * 1_000), timeZone.value ?? 'UTC'),
    // The last name of the horizontal axis stands half beyond it.
    padding: [null, PAD_EM * typePx, null, null],
    cursor: { drag: { x: true, y: false, setScale: true } },
    legend: { live: true },
    scales: {
      x: { time: true, range: (_, min, max) => (hourly ? [min, max] : [min - HALF_S, max + HALF_S]) },
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
      draw: [(plot) => drawMarks(plot, marks(), typePx, colour)],
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
