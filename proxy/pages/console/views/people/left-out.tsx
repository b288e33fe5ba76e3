/** What is not in the sum of a pilgrim's day, and why. */
import { figure } from '#shared/locales/units.ts'
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { dayName } from '../../clock.ts'
import { pair, words } from '../../words.ts'

/** Everything about one pilgrim. */
export type Detail = Data<'readUser'>

type Day = NonNullable<Detail['latest_day']>
type LeftOut = Day['left_out']
type Reason = keyof LeftOut

export const sumOf = (leftOut: LeftOut): number =>
  Object.values(leftOut).reduce((sum, count) => sum + count, 0)

/** How many points each reason leaves out, most first. */
export function Reasons({ leftOut }: { readonly leftOut: LeftOut }) {
  const counts = (Object.entries(leftOut) as [Reason, number][])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  if (counts.length === 0) return null
  return (
    <ul class="small quiet">
      {counts.map(([reason, count]) => (
        <li key={reason}>
          {figure(count)}: {words.value.people.reasons[reason]}
        </li>
      ))}
    </ul>
  )
}

interface Props {
  readonly day: Day
  /** Leads to these points. */
  readonly onShow: () => void
}

/** The latest day in a sentence: it explains a distance that is shorter than the pilgrim expects. */
export function LeftOutOfDay({ day: { day, points, left_out, truncated }, onShow }: Props) {
  const said = words.value.people
  const out = sumOf(left_out)
  if (out === 0) return null
  return (
    <section class="left-out">
      <p>
        <strong>
          {dayName(day)} ·{' '}
          {pair(said.notCounted, `${figure(out)} / ${truncated ? '≥ ' : ''}${said.points(points)}`)}
        </strong>
      </p>
      <Reasons leftOut={left_out} />
      <Button onClick={onShow}>{said.show}</Button>
    </section>
  )
}
