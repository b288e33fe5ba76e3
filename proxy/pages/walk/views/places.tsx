/** The next place of each kind along the route, from stored data, so that it works offline. */
import { words } from '../words.ts'
import { PLACE_ICONS } from '../../design/place-icons.ts'
import { language } from '../../frame/language.ts'
import { distanceText } from '../format.ts'
import { route } from '../way/own-way.ts'
import { placesAhead } from '../way/stations.ts'
import { Age, whereabouts } from './stations.tsx'

export function Places() {
  const given = route.value
  const where = whereabouts()
  if (given === null || where === null) return null
  const next = placesAhead(given, where)
  if (next.length === 0) return null
  const { places } = words.value
  return (
    <section class="card stack-2 places">
      <h2>{places.next}</h2>
      <ul class="rows">
        {next.map(({ place: { kind, name, names, hours }, metres, isAlong }) => (
          <li key={kind} class="station">
            <svg class="place-icon" viewBox="0 0 24 24" aria-hidden="true">
              <path d={PLACE_ICONS[kind]} fill-rule="evenodd" />
            </svg>
            <strong>{places.kinds[kind]}</strong>
            <span>{(isAlong ? places.ahead : places.away)(distanceText(metres))}</span>
            <span class="quiet whole">
              {[names[language.value] ?? name, hours].filter((text) => text !== null).join(' · ')}
            </span>
          </li>
        ))}
      </ul>
      <Age placeMs={where.here.t} />
    </section>
  )
}
