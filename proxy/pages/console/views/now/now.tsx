/** What happens now: the crowd, the rates, and whether everything is well. */
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { Alerts } from './alerts.tsx'
import { useEventMap } from './event-map.ts'
import { FigureTiles } from './figure-tiles.tsx'
import { MapPanel } from './map-panel.tsx'
import { Parts } from './parts.tsx'
import { Procession } from './procession.tsx'
import { Rates } from './rates.tsx'

const CONDITION_MS = 10_000
const ACTIVE_MS = 60_000
/** Zoom of the fewest cells: only their sum is shown. */
const COARSE = 6
const HOUR_MS = 3_600_000
/** LINE counts slowly, and each call of an operator counts in the token's limit. */
const USAGE_MS = 300_000

/** Start of the hour before this one. */
const hourBefore = (): string => new Date((Math.floor(Date.now() / HOUR_MS) - 1) * HOUR_MS).toISOString()

export function Now() {
  const map = useEventMap()
  const active = useResource(
    (signal) => client.readClusters({ zoom: COARSE, since: hourBefore() }, { signal }),
    ACTIVE_MS,
    'active',
  )
  const usage = useResource((signal) => client.readLineUsage({}, { signal }), USAGE_MS, 'usage')
  const shared = { map, active, usage }
  return (
    <div class="view now">
      <h1 class="visually-hidden">{words.value.now.title}</h1>
      {level.value >= MANAGER ? (
        <Operating {...shared} />
      ) : (
        <>
          <FigureTiles condition={null} {...shared} />
          <Crowd map={map} />
        </>
      )}
    </div>
  )
}

type Shared = Omit<Parameters<typeof FigureTiles>[0], 'condition'>

/** What managers and owners see. On a phone it stands in this order: what is wrong comes first. */
function Operating(shared: Shared) {
  const condition = useResource((signal) => client.readCondition({}, { signal }), CONDITION_MS, 'condition')
  return (
    <>
      <Alerts condition={condition} />
      <FigureTiles condition={condition} {...shared} />
      <Crowd map={shared.map} />
      <Rates />
      <Parts condition={condition} />
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
