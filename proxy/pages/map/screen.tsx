/** What a display on a wall shows over its map, to be read from five metres: the event, three facts, a code to scan. */
import { words } from './words.ts'
import { QrCode } from '../design/qr-code.tsx'
import { Notices } from './panel.tsx'
import { clock } from './format.ts'
import { isAlive } from './scene.ts'
import { eventName, news, nowMs } from './state.ts'
import { nextStation } from './stations.tsx'

export function Screen() {
  const next = nextStation()
  const map = isAlive.value ? news.value : null
  return (
    <>
      <header class="screen-head" data-over-map>
        <h1>{eventName.value}</h1>
        <strong>{clock(nowMs.value)}</strong>
      </header>
      <section class="screen-foot" aria-label={words.value.procession} data-over-map>
        <div class="grow">
          <Notices />
          {next === null ? (
            <p class="screen-facts">
              {map === null ? null : map.on_map === 0 ? words.value.nobody : words.value.onMap(map.on_map)}
            </p>
          ) : (
            <dl class="screen-facts">
              <div>
                <dt class="quiet">{words.value.nextStation}</dt>
                <dd>{next.name}</dd>
              </div>
              <div>
                <dt class="quiet">{words.value.part[map?.palanquin == null ? 'front' : 'palanquin']}</dt>
                <dd>{next.when}</dd>
              </div>
              {next.toGo === null ? null : (
                <div>
                  <dt class="quiet">{words.value.distance}</dt>
                  <dd>{next.toGo}</dd>
                </div>
              )}
            </dl>
          )}
        </div>
        <figure>
          <QrCode text={`${location.origin}/`} label={words.value.map} />
          <figcaption>{words.value.scan}</figcaption>
        </figure>
      </section>
    </>
  )
}
