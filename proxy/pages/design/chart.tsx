/** Named bars. */
import type { ComponentChildren } from 'preact'

export interface Bar {
  readonly name: string
  readonly value: number
  readonly shown: string
  /** A symbol before the name. */
  readonly symbol?: ComponentChildren
}

/** Named bars with their figures, as a list, so that it is readable without the picture. */
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
