/** How much carbon a day made, and why: which stretches, at which speed. */
import type { WalkWords } from '#shared/locales/words.ts'
import { carbonText, timeText } from '../format.ts'
import type { DayOfWay } from '../way/kept-days.ts'

interface CarbonProps {
  readonly words: WalkWords
  readonly day: DayOfWay
  readonly kg: number
}

export function Carbon({ words: { way }, day: { stretches }, kg }: CarbonProps) {
  const onFoot = stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const modes: Readonly<Record<string, string>> = way.modes
  const kmOnFoot = Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100
  return (
    <details class="card">
      <summary>
        {way.carbon(kg === 0 ? null : carbonText(kg))} <span class="block quiet">{way.why}</span>
      </summary>
      <div class="stack-2">
        <p>{way.onFoot(kmOnFoot)}</p>
        <ul class="rows">
          {motor.map((one) => (
            <li key={one.from}>
              {way.motor(
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
        {motor.some(({ inferred }) => inferred) ? <p class="quiet">{way.bySpeed}</p> : null}
      </div>
    </details>
  )
}
