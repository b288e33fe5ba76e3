import { KG_PER_KM, KG_PER_UNIT, ZERO_EMISSION_KMH } from '#shared/rules/carbon.ts'
import { modeName } from '../../parts/distances.ts'
import { fill, words } from '../../words.ts'

/** Factors by the names that operators read: a kilometre of each mode, then a bottle, a recycled one, a night. */
export function carbonFactors(): readonly (readonly [name: string, kg: number])[] {
  const { perKm, units } = words.value.reports.method
  return [
    ...Object.entries(KG_PER_KM).map(
      ([mode, kg]) => [fill(perKm, { mode: modeName(mode).toLocaleLowerCase() }), kg] as const,
    ),
    ...Object.entries(KG_PER_UNIT).map(([name, kg]) => [units[name as keyof typeof units], kg] as const),
  ]
}

/** How the footprint is computed, for whoever has to explain it. */
export const CarbonMethod = () => {
  const said = words.value.reports.method
  return (
    <details>
      <summary>{said.title}</summary>
      <p>{fill(said.speed, { kmh: ZERO_EMISSION_KMH })}</p>
      <p>{said.saved}</p>
      <dl class="factors">
        {carbonFactors().map(([name, kg]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{`${kg} kg CO₂e`}</dd>
          </div>
        ))}
      </dl>
      <p class="small quiet">{said.source}</p>
    </details>
  )
}
