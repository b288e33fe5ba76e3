/** Small charts as SVG. The label says in words what a picture shows. */
import type { ComponentChildren } from 'preact'

const WIDTH = 240
const HEIGHT = 48

/** A line of up to some hundred values; null is a gap. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly (number | null)[]
  readonly label: string
}) {
  const known = values.filter((value) => value !== null)
  const top = Math.max(...known, 0) || 1
  const x = (i: number) => Number(((i / Math.max(1, values.length - 1)) * WIDTH).toFixed(1))
  const y = (value: number) => Number((HEIGHT - (value / top) * HEIGHT).toFixed(1))
  const runs: string[][] = [[]]
  for (const [i, value] of values.entries())
    if (value === null) runs.push([])
    else runs.at(-1)!.push(`${x(i)} ${y(value)}`)
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {runs
        .filter((run) => run.length > 0)
        .map((run) => {
          const ends = [run[0]!, run.at(-1)!].map((place) => place.split(' ')[0]!)
          return (
            <g key={run[0]}>
              <path class="area" d={`M${ends[0]} ${HEIGHT}L${run.join('L')}L${ends[1]} ${HEIGHT}Z`} />
              <path class="line" d={`M${run.join('L')}`} />
            </g>
          )
        })}
    </svg>
  )
}

/** Columns side by side, such as the hours of a day. */
export function Columns({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const top = Math.max(...values, 0) || 1
  const width = WIDTH / Math.max(1, values.length)
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {values.map((value, i) => {
        const height = (value / top) * HEIGHT
        return (
          <rect
            key={i}
            class="bar"
            x={i * width + width * 0.1}
            y={HEIGHT - height}
            width={width * 0.8}
            height={height}
            rx="1"
          />
        )
      })}
    </svg>
  )
}

export interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  /** A symbol before the name. */
  readonly symbol?: ComponentChildren
}

/** Named bars with their figures: a list, so that it reads without the picture. */
export function Bars({ bars }: { readonly bars: readonly Bar[] }) {
  const top = Math.max(...bars.map(({ value }) => value), 0) || 1
  return (
    <ul class="bars">
      {bars.map(({ name, value, shown, symbol }) => (
        <li key={name}>
          <span aria-hidden="true">{symbol}</span>
          <span>{name}</span>
          <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
            <rect class="track" width="100" height="6" rx="1" stroke-width="0.2" />
            <rect class="bar" width={(value / top) * 100} height="6" rx="1" />
          </svg>
          <span class="number">{shown}</span>
        </li>
      ))}
    </ul>
  )
}
