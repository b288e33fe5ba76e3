/** The map on a wall display, without controls. */
import { QrCode } from '../design/qr-code.tsx'
import { clock } from './format.ts'
import { MapView } from './map-view.tsx'
import { Notices, nobodyText, partName, StandingBadge } from './panel.tsx'
import { isAlive } from './scene.ts'
import { eventName, followed, leader, news, nowMs, standing } from './state.ts'
import { nextStation } from './stations.tsx'
import { words } from './words.ts'

export const WallPage = () => (
  <main class="screen">
    <MapView />
    <Screen />
  </main>
)

/** The overlay, readable from five metres: the event, three facts, a code to scan. */
const Screen = () => (
  <>
    <header class="screen-head" data-over-map>
      <h1>{eventName.value}</h1>
      {standing.value === 'active' ? null : <StandingBadge />}
      <strong>{clock(nowMs.value)}</strong>
    </header>
    <section class="screen-foot" aria-label={words.value.procession(followed.value)} data-over-map>
      <div class="grow">
        <Notices />
        <WallFacts />
      </div>
      {standing.value === 'ended' ? null : (
        <figure>
          <QrCode text={`${location.origin}/`} label={words.value.map(followed.value)} />
          <figcaption>{words.value.scan}</figcaption>
        </figure>
      )}
    </section>
  </>
)

/** Facts about the procession, or the reason why there are none. */
function WallFacts() {
  const next = nextStation()
  const map = isAlive.value ? news.value : null
  // Before the event begins, the notice shows the start.
  if (map === null || standing.value === 'awaited') return null
  if (next === null)
    return <p class="screen-facts">{map.on_map === 0 ? nobodyText(map) : words.value.onMap(map.on_map)}</p>
  return (
    <dl class="screen-facts">
      <div>
        <dt class="quiet">{words.value.nextStation}</dt>
        <dd>{next.name}</dd>
      </div>
      <div>
        <dt class="quiet">{partName(leader.value === null ? 'front' : 'palanquin')}</dt>
        <dd>{next.when}</dd>
      </div>
      {next.toGo === null ? null : (
        <div>
          <dt class="quiet">{words.value.distance}</dt>
          <dd>{next.toGo}</dd>
        </div>
      )}
    </dl>
  )
}
