/** How much carbon the walk has saved, and why: the stretches of a day and their speed. */
import { words } from '../words.ts'
import { carbonText, timeText } from '../format.ts'
import { profile } from '../session/service.ts'
import type { DayOfWay } from '../way/kept-days.ts'

export function Carbon({ day: { stretches } }: { readonly day: DayOfWay }) {
  const { way } = words.value
  const { carbon_saved_kg: saved = 0 } = profile.value ?? {}
  const onFoot = stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  if (saved === 0 && motor.length === 0) return null
  const modes: Readonly<Record<string, string>> = way.modes
  const kmOnFoot = Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100
  return (
    <details class="card">
      <summary>{way.carbon(carbonText(saved))}</summary>
      <ul class="rows">
        <li>{way.onFoot(kmOnFoot)}</li>
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
    </details>
  )
}
