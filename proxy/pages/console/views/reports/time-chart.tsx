/** A chart over time with a brush: dragging chooses a time, a double click shows everything. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../../../frame/theme.ts'
import { minute, number, short } from '../../clock.ts'
import type { Row, Series } from './series.ts'

const HEIGHT = 260

export interface TimeChartProps {
  readonly rows: readonly Row[]
  readonly series: Series
  readonly label: string
  /** Null: everything is shown. */
  readonly onRange: (range: readonly [from: number, to: number] | null) => void
}

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const dataOf = (rows: readonly Row[], series: Series): uPlot.AlignedData => [
  rows.map(({ t }) => t),
  rows.map((row) => row[series]),
]

const DAY_S = 86_400

/** Names of the horizontal axis: hours, and the date where the span has several days. */
function timeNames(_: uPlot, splits: number[]): string[] {
  const several = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > DAY_S
  return splits.map((t) => {
    const at = new Date(t * 1_000)
    return several ? `${at.getMonth() + 1}/${at.getDate()} ${minute(t * 1_000)}` : minute(t * 1_000)
  })
}

function axis(values: uPlot.Axis['values']): uPlot.Axis {
  const line = { stroke: colour('--line'), width: 1 }
  return {
    stroke: colour('--soft'),
    grid: line,
    ticks: line,
    font: '12px system-ui',
    ...(values === undefined ? {} : { values }),
  }
}

function optionsOf(
  { label, onRange }: Pick<TimeChartProps, 'label' | 'onRange'>,
  width: number,
  ends: () => readonly [number, number],
): uPlot.Options {
  return {
    width,
    height: HEIGHT,
    cursor: { drag: { x: true, y: false, setScale: true } },
    legend: { live: true },
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] } },
    axes: [axis(timeNames), axis((_, splits) => splits.map((value) => short(value)))],
    series: [
      { value: (_, t) => (t === null ? '' : minute(t * 1_000)) },
      {
        label,
        stroke: colour('--accent'),
        fill: `color-mix(in srgb, ${colour('--accent')} 16%, transparent)`,
        width: 2,
        points: { show: false },
        value: (_, value) => (value === null ? '' : number(value)),
      },
    ],
    hooks: {
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

export function TimeChart({ rows, series, label, onRange }: TimeChartProps) {
  const frame = useRef<HTMLElement>(null)
  const plot = useRef<uPlot | null>(null)
  const latest = useRef({ rows, onRange })
  latest.current = { rows, onRange }
  const chosenTheme = theme.value
  useEffect(() => {
    const element = frame.current!
    const ends = () => [latest.current.rows[0]?.t ?? 0, latest.current.rows.at(-1)?.t ?? 0] as const
    const report: TimeChartProps['onRange'] = (range) => latest.current.onRange(range)
    const made = new uPlot(
      optionsOf({ label, onRange: report }, element.clientWidth, ends),
      dataOf(latest.current.rows, series),
      element,
    )
    plot.current = made
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      made.destroy()
    }
  }, [series, label, chosenTheme])
  useEffect(() => plot.current?.setData(dataOf(rows, series), false), [rows, series])
  return <figure ref={frame} class="time-chart" aria-label={label} />
}
