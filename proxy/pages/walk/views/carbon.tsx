/** How much carbon a day made, and why: which stretches, at which speed. */
import { words } from '../words.ts'
import { carbonText, timeText } from '../format.ts'
import type { DayOfWay } from '../way/kept-days.ts'

interface CarbonProps {
  readonly day: DayOfWay
  readonly kg: number
}

export function Carbon({ day: { stretches }, kg }: CarbonProps) {
  const onFoot = stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const modes: Readonly<Record<string, string>> = words.value.way.modes
  const kmOnFoot = Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100
  return (
    <details class="card">
      <summary>
        {words.value.way.carbon(kg === 0 ? null : carbonText(kg))}{' '}
        <span class="block quiet">{words.value.way.why}</span>
      </summary>
      <div class="stack-2">
        <p>{words.value.way.onFoot(kmOnFoot)}</p>
        <ul class="rows">
          {motor.map((one) => (
            <li key={one.from}>
              {words.value.way.motor(
                timeText(Date.parse(one.from)),
                timeText(Date.parse(one.to)),
                modes[one.mode] ?? one.mode,
                one.km,
                one.speed_kmh,
                carbonText(one.carbon_kg),
              )}
            </li>
          ))}
        </ul>
        {motor.some(({ inferred }) => inferred) ? <p class="quiet">{words.value.way.bySpeed}</p> : null}
      </div>
    </details>
  )
}
