/** The event in four figures, before everything that explains them. */
import { number } from '../../clock.ts'
import type { Data } from '#shared/client/index.ts'
import { distancesOf, kilograms, kilometres, ridden } from '../../parts/distances.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { isLoading, isStale, Panel, Stamp } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { words } from '../../words.ts'

export function Headline({ carbon }: { readonly carbon: Resource<Data<'readCarbon'>> }) {
  const said = words.value.reports
  const value = carbon.value.value
  const state = { stale: isStale(carbon), loading: isLoading(carbon) }
  return (
    <Panel
      title={said.headline}
      kind="headline"
      stale={state.stale}
      stamp={<Stamp at={value?.as_of ?? null} stale={state.stale} />}
    >
      <Figures>
        <Figure
          label={words.value.now.km}
          value={value && kilometres(distancesOf(value).walked)}
          unit="km"
          note={value === null ? undefined : ridden(value)}
          {...state}
        />
        <Figure
          label={said.pilgrims}
          value={value && number(value.pilgrims)}
          note={said.pilgrimsNote}
          {...state}
        />
        <Figure
          label={said.saved}
          value={value && kilograms(value.saved_kg)}
          unit="kg"
          note={said.savedNote}
          tone="good"
          {...state}
        />
      </Figures>
    </Panel>
  )
}
