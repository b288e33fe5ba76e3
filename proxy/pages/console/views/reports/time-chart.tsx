/** A chart over time with a brush: dragging chooses a time, a double click shows everything. */
import { effect, untracked } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { theme } from '../../../frame/theme.ts'
import { DENSITY, isPrinting, onPaper, onScreen } from '../../parts/paper.ts'
import { type Charted, dataOf, optionsOf, type Range, type Sheet } from './chart-options.ts'

/** Height and type in the page's own size, which grows on a wall. */
const HEIGHT_REM = 17
const TYPE_REM = 0.75
/** On a wall it is read from afar. */
const WALL_TYPE_REM = 1
const wall = matchMedia('(width >= 200rem)')
const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)

const onWindow = (frame: HTMLElement): Sheet => ({
  width: frame.clientWidth,
  height: HEIGHT_REM * rem(),
  typePx: (wall.matches ? WALL_TYPE_REM : TYPE_REM) * rem(),
  colour: onScreen(),
})

/** In a picture or on paper, its size does not depend on the window's. */
function onSheet(width: number, height: number): Sheet {
  const scale = DENSITY / devicePixelRatio
  return { width: width * scale, height: height * scale, typePx: 14 * scale, colour: onPaper }
}

/** As wide as the report's paper at its zoom, and as high as its room there. */
const PRINTED = [1_112, 205] as const

export interface TimeChartProps extends Charted {
  /** Null: everything is shown. */
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
    // A part of a day has no day in it.
    if (grain.current !== hourly) chosen.current = null
    grain.current = hourly
    const ends = (): Range => [latest.current.rows[0]?.t ?? 0, latest.current.rows.at(-1)?.t ?? 0]
    const draw = (sheet: Sheet): void => {
      const range = chosen.current
      const onRange = (seen: Range | null): void => {
        chosen.current = seen
        latest.current.onRange(seen)
      }
      const { rows: drawn } = latest.current
      plot.current?.destroy()
      plot.current = new uPlot(
        optionsOf(sheet, { label, hourly }, ends, () => latest.current.marks, onRange),
        dataOf({ rows: drawn, series }),
        element,
      )
      if (range !== null) plot.current.setScale('x', { min: range[0], max: range[1] })
    }
    const unwatch = effect(() => {
      const isPrinted = isPrinting.value
      untracked(() => draw(isPrinted ? onSheet(...PRINTED) : onWindow(element)))
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
  // What is chosen stays chosen; else the newest hour comes into sight.
  useEffect(() => plot.current?.setData(dataOf({ rows, series }), chosen.current === null), [rows, series])
  return <figure ref={frame} class="time-chart" aria-label={label} />
}

/**
 * Draws a chart for a picture.
 * @param width in the picture's units
 * @param range what of it is in sight; null: everything
 */
export async function drawChart(
  charted: Charted,
  range: Range | null,
  width: number,
  height: number,
): Promise<HTMLCanvasElement> {
  const { rows, marks } = charted
  const ends = (): Range => [rows[0]?.t ?? 0, rows.at(-1)?.t ?? 0]
  const options = optionsOf(
    onSheet(width, height),
    charted,
    ends,
    () => marks,
    () => undefined,
  )
  const plot = new uPlot(
    { ...options, legend: { show: false } },
    dataOf(charted),
    document.createElement('div'),
  )
  if (range !== null) plot.setScale('x', { min: range[0], max: range[1] })
  // It draws in a microtask of its own.
  await new Promise(requestAnimationFrame)
  const { canvas } = plot.ctx
  plot.destroy()
  return canvas
}
