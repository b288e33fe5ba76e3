/** The map itself: canvases and the marks over them, in one element that moves. */
import { pageWords } from '../frame/page-words.ts'
import { words } from './words.ts'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { Symbol } from '../design/symbol.tsx'
import { drawInColours } from '../frame/theme.ts'
import { detailed, hasDetailedMap, tilesSource } from './detailed-map.ts'
import { MapCamera } from './map-camera.ts'
import { Controls, World } from './map-parts.tsx'
import { freshness, isFindingMe, isScreen, me, news } from './state.ts'
import { counties, isAlive, shown } from './scene.ts'

export function MapView() {
  const frame = useRef<HTMLDivElement>(null)
  const camera = useRef<MapCamera | null>(null)
  const repaint = useCallback(() => camera.current?.recolour(), [])
  useEffect(() => {
    const made = new MapCamera(frame.current!)
    camera.current = made
    const stopColouring = drawInColours(() => made.recolour())
    return () => {
      stopColouring()
      made.stop()
    }
  }, [])
  return (
    <section class="map" aria-label={words.value.map} data-freshness={freshness.value}>
      <div
        ref={frame}
        class="map-frame"
        role="application"
        tabIndex={0}
        aria-label={words.value.map}
        aria-describedby="map-keys"
      >
        {hasDetailedMap ? <div class="tiles" aria-hidden="true" /> : null}
        <World names={{ ...words.value.part, me: words.value.me }} />
      </div>
      <p id="map-keys" class="visually-hidden">
        {pageWords.value.mapKeys}
      </p>
      {isScreen ? null : <Buttons camera={() => camera.current} />}
      <Source onShown={repaint} />
    </section>
  )
}

/** Who made the data of the ground. */
function Source({ onShown }: { readonly onShown: () => void }) {
  const tiles = detailed.value === 'on'
  const source = tiles ? tilesSource.value : counties.value === null ? '' : pageWords.value.mapSource
  // Names leave its place free. Before the next picture is drawn, so that none is drawn twice.
  useLayoutEffect(() => {
    if (source !== '') onShown()
  }, [onShown, source])
  return source === '' ? null : (
    <small class="map-source" data-over-map>
      {source}
    </small>
  )
}

interface ButtonsProps {
  readonly camera: () => MapCamera | null
}

const Buttons = ({ camera }: ButtonsProps) => {
  const offersRoute = shown.value === 'procession' || !isAlive.value || news.value?.on_map === 0
  return (
    <Controls camera={camera}>
      {hasDetailedMap ? (
        <Button
          icon
          label={words.value.detailed}
          aria-pressed={detailed.value !== 'off'}
          busy={detailed.value === 'loading'}
          onClick={() => camera()?.toggleDetailed()}
        >
          <Symbol of="detailed" />
        </Button>
      ) : null}
      <Button
        icon
        label={offersRoute ? words.value.showRoute : words.value.showProcession}
        onClick={() => camera()?.show(offersRoute ? 'route' : 'procession')}
      >
        <Symbol of={offersRoute ? 'route' : 'procession'} />
      </Button>
      <Button
        icon
        label={words.value.whereAmI}
        aria-pressed={me.value !== null}
        busy={isFindingMe.value}
        onClick={() => camera()?.findMe()}
      >
        <Symbol of="position" />
      </Button>
    </Controls>
  )
}
