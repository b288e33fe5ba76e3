/** Front, middle and tail in words, with their signs and kilometres: now, or in an hour that was chosen. */
import type { Mark } from '../../design/marks.tsx'
import { MarkSymbol } from '../../design/marks.tsx'
import { words } from '../words.ts'
import { route } from './ground.ts'
import { kmOnRoute, placeName, type PlaceOnRoute } from './place-words.ts'

export const PROCESSION = ['front', 'middle', 'tail'] as const satisfies readonly Mark[]

export type ProcessionPlaces = Readonly<Record<(typeof PROCESSION)[number], PlaceOnRoute | null>>

/** A place in words: the same in tables, in pictures and on their maps. */
export const placeWords = (place: PlaceOnRoute): { readonly name: string; readonly km: string | null } => ({
  name: placeName(place, route.value),
  km: kmOnRoute(place),
})

/** @param absent said of a place that there is not, such as while it is read */
export const ProcessionRows = ({
  places,
  absent,
}: {
  readonly places: ProcessionPlaces | null
  readonly absent: string
}) => (
  <ul class="rows procession-rows">
    {PROCESSION.map((name) => {
      const place = places?.[name] ?? null
      const said = place === null ? null : placeWords(place)
      return (
        <li key={name}>
          <MarkSymbol mark={name} />
          <strong>{words.value.now[name]}</strong>
          <span class="grow">{said?.name ?? absent}</span>
          <span class="number">{said?.km}</span>
        </li>
      )
    })}
  </ul>
)
