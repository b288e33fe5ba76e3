/** What happens now: the crowd, the rates, and whether everything is well. */
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { words } from '../../words.ts'
import { addHistory } from '../../rates.ts'
import { Alerts } from './alerts.tsx'
import { useEventMap, MapPanel } from './map-panel.tsx'
import { FigureTiles } from './figure-tiles.tsx'
import { Parts } from './parts.tsx'
import { Procession } from './procession.tsx'
import { Rates } from './rates.tsx'

const CONDITION_MS = 10_000
/** With the stream only what it missed is read; a volunteer has no stream. */
const [HOUR_WITH_STREAM_MS, HOUR_MS] = [60_000, 30_000]
/** It changes with each flush, and each call of an operator counts in the token's limit. */
const MODES_MS = 300_000
/** LINE counts slowly, and each call of an operator counts in the token's limit. */
const USAGE_MS = 300_000

/** The last hour. What the chart did not see is put into it. */
async function readLastHour(signal: AbortSignal) {
  const answer = await client.readLastHour({}, { signal })
  if (answer.ok && answer.data.received !== null && !signal.aborted) addHistory(answer.data.received)
  return answer
}

export function Now() {
  const map = useEventMap()
  const hour = useResource(readLastHour, level.value >= MANAGER ? HOUR_WITH_STREAM_MS : HOUR_MS, 'last-hour')
  const usage = useResource((signal) => client.readLineUsage({}, { signal }), USAGE_MS, 'usage')
  const shared = { map, hour, usage }
  return (
    <div class="view now">
      <h1 class="visually-hidden">{words.value.now.title}</h1>
      {level.value >= MANAGER ? (
        <Operating {...shared} />
      ) : (
        <>
          <FigureTiles condition={null} modes={null} {...shared} />
          <Crowd map={map} />
        </>
      )}
    </div>
  )
}

type Shared = Omit<Parameters<typeof FigureTiles>[0], 'condition' | 'modes'>

/** What managers and owners see. On a phone it stands in this order: what is wrong comes first. */
function Operating(shared: Shared) {
  const condition = useResource((signal) => client.readCondition({}, { signal }), CONDITION_MS, 'condition')
  const modes = useResource((signal) => client.readCarbon({}, { signal }), MODES_MS, 'modes')
  return (
    <>
      <Alerts condition={condition} hour={shared.hour} />
      <FigureTiles condition={condition} modes={modes} {...shared} />
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
