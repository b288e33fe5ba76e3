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
const TIMELINE_MS = 60_000
/** LINE counts slowly, and each call of an operator counts in the token's limit. */
const USAGE_MS = 300_000

export function Now() {
  const map = useEventMap()
  const timeline = useResource((signal) => client.readTimeline({}, { signal }), TIMELINE_MS, 'timeline')
  const usage = useResource((signal) => client.readLineUsage({}, { signal }), USAGE_MS, 'usage')
  const shared = { map, timeline, usage }
  return (
    <div class="view now">
      <h1 class="visually-hidden">{words.value.now.title}</h1>
      {level.value >= MANAGER ? (
        <Operating {...shared} />
      ) : (
        <>
          <FigureTiles condition={null} {...shared} />
          <MapPanel map={map} />
          <Procession map={map} />
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
      <MapPanel map={shared.map} />
      <Procession map={shared.map} />
      <Rates />
      <Parts condition={condition} />
    </>
  )
}
