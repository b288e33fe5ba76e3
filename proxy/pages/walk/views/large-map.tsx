/** The own way on a map that fills the screen. */
import { words } from '../words.ts'
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { Symbol } from '../../design/symbol.tsx'
import { dayText, numberText, unitText } from '../format.ts'
import { goBack } from '../route.ts'
import { readWay, shownDay } from '../way/own-way.ts'
import type { WayCamera } from '../way/way-camera.ts'
import { DaySwitch } from './day-switch.tsx'

type WayMapScript = typeof import('./way-map.tsx')

const script = signal<WayMapScript | null>(null)

/** Loads the map's script, once. Without it the figures and words are there. */
async function loadWayMap(): Promise<void> {
  if (script.value !== null) return
  try {
    script.value = await import('./way-map.tsx')
  } catch {
    // The first time without a network: the next view asks again.
  }
}

/** A small picture of the day that opens the large map. */
export function MapPicture() {
  useEffect(() => void loadWayMap(), [])
  const shown = shownDay.value
  const WayMap = script.value?.WayMap
  return (
    <a class="way-map" href="#map">
      {WayMap === undefined ? null : <WayMap still />}
      {shown === null ? null : (
        <>
          <span class="visually-hidden">{words.value.way.map(dayText(shown.day), shown.sums.km)}</span>
          <strong class="way-map-km" aria-hidden="true" data-over-map>
            {numberText(shown.sums.km)} {unitText('km')}
          </strong>
        </>
      )}
      <span class="way-map-open" data-over-map>
        {words.value.way.larger} ›
      </span>
    </a>
  )
}

let camera: WayCamera | null = null
/** Names on the map leave free what lies over it. */
const repaint = (): void => camera?.recolour()
const holdCamera = (made: WayCamera | null): void => {
  camera = made
}

export function LargeMap() {
  useEffect(() => {
    void loadWayMap()
    void readWay()
  }, [])
  const shown = shownDay.value
  const loaded = script.value
  const named = loaded?.hasAtlas.value ?? false
  useEffect(repaint, [named])
  return (
    <main class="large-map">
      <header data-over-map>
        <div class="row ends">
          <Button onClick={goBack}>‹ {words.value.back}</Button>
          {shown === null ? null : (
            <strong class="way-map-km">
              {numberText(shown.sums.km)} {unitText('km')}
            </strong>
          )}
        </div>
        <h1 tabIndex={-1} class="visually-hidden">
          {words.value.way.title}
        </h1>
        <DaySwitch />
      </header>
      {loaded === null ? null : (
        <loaded.WayMap
          label={
            shown === null ? words.value.way.title : words.value.way.map(dayText(shown.day), shown.sums.km)
          }
          keys={words.value.way.mapKeys}
          onCamera={holdCamera}
        />
      )}
      <div class="map-controls" data-over-map>
        <Button icon label={words.value.way.closer} onClick={() => camera?.zoom(1)}>
          <Symbol of="closer" />
        </Button>
        <Button icon label={words.value.way.farther} onClick={() => camera?.zoom(-1)}>
          <Symbol of="farther" />
        </Button>
        <Button onClick={() => camera?.follow()}>
          <Symbol of="route" />
          <span>{words.value.way.wholeDay}</span>
        </Button>
      </div>
      {named ? (
        <small class="map-source" data-over-map>
          {words.value.way.mapSource}
        </small>
      ) : null}
    </main>
  )
}
