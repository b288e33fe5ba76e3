/** What happens now: the crowd, the rates, and whether everything is well. */
import { useContext } from 'preact/hooks'
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { LastHour } from '../../navigation-counts.ts'
import { Alerts } from './alerts.tsx'
import { useEventMap, MapPanel } from './map-panel.tsx'
import { FigureTiles } from './figure-tiles.tsx'
import { Procession } from './procession.tsx'
import { Rates } from './rates.tsx'

const CONDITION_MS = 10_000
const SAFETY_MS = 60_000

export function Now() {
  const map = useEventMap()
  const hour = useContext(LastHour)!
  const safety = useResource(
    (signal) => client.listFeedback({ limit: 1, category: 'safety' }, { signal }),
    SAFETY_MS,
    'safety',
  )
  const shared = { map, hour, safety }
  return (
    <div class="view now">
      <h1 class="visually-hidden">{words.value.now.title}</h1>
      {level.value >= MANAGER ? (
        <Operating {...shared} />
      ) : (
        <>
          <Crowd map={map} />
          <FigureTiles condition={null} {...shared} />
        </>
      )}
    </div>
  )
}

type Shared = Omit<Parameters<typeof FigureTiles>[0], 'condition'>

/** What managers and owners see. On a phone it stands in this order. */
function Operating(shared: Shared) {
  const condition = useResource((signal) => client.readCondition({}, { signal }), CONDITION_MS, 'condition')
  return (
    <>
      <Alerts condition={condition} />
      <Crowd map={shared.map} />
      <FigureTiles condition={condition} {...shared} />
      <Rates />
    </>
  )
}

/** Where everybody is, on the map and in words. */
const Crowd = ({ map }: Pick<Shared, 'map'>) => (
  <div class="crowd-column">
    <MapPanel map={map} />
    <Procession map={map} />
  </div>
)
