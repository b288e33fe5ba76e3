/** How much carbon the walk of a day has saved, and why: its stretches and their speed. */
import { words } from '../words.ts'
import { savedMg } from '#shared/core/rules/carbon.ts'
import { carbonText, timeText } from '../format.ts'
import type { DayOfWay } from '../way/kept-days.ts'

/** Less is shown as no distance. */
const LEAST_KM = 0.1

export function Carbon({ day: { stretches } }: { readonly day: DayOfWay }) {
  const { way } = words.value
  const onFoot = stretches.filter(({ carbon_kg: kg }) => kg === 0)
  const motor = stretches.filter(({ carbon_kg: kg }) => kg > 0)
  const modes: Readonly<Record<string, string>> = way.modes
  const kmOnFoot = Math.round(onFoot.reduce((sum, { km }) => sum + km, 0) * 100) / 100
  // Nothing is saved before a distance is shown.
  if (kmOnFoot < LEAST_KM && motor.length === 0) return null
  const [allKm, spentKg] = stretches.reduce(([k, c], one) => [k + one.km, c + one.carbon_kg], [0, 0])
  const saved = savedMg(allKm * 1e6, spentKg * 1e6) / 1e6
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
