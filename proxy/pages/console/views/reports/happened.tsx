import { date, number } from '../../clock.ts'
import { fill, words } from '../../words.ts'
import type { Timeline } from './series.ts'

interface Props {
  readonly timeline: Timeline
  /** The chosen time, epoch seconds. */
  readonly from: number
  readonly to: number
}

/** Everything that the marks of the chart stand for, in the chosen time, one line each. */
export function Happened({ timeline: { entries }, from, to }: Props) {
  const chosen = entries.filter(({ at }) => {
    const t = Date.parse(at) / 1_000
    return t >= from && t <= to
  })
  if (chosen.length === 0) return null
  return (
    <details class="happened">
      <summary>{fill(words.value.reports.happened, { count: number(chosen.length) })}</summary>
      <ul class="rows">
        {chosen.toReversed().map(({ at, kind, by, message }, i) => (
          <li key={`${at} ${i}`}>
            <span class="number small">{date(at)}</span>
            <strong>{words.value.lifecycle.kinds[kind]}</strong>
            <span class="grow">{message}</span>
            <span class="small quiet">{by === null ? null : fill(words.value.common.by, { name: by })}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
