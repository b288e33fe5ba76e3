/** The map itself: canvases and the marks over them, in one element that moves. */
import { words } from './words.ts'
import { useCallback, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { type Mark, MarkSymbol } from '../design/marks.tsx'
import { Symbol } from '../design/symbol.tsx'
import { drawInColours } from '../frame/theme.ts'
import { detailed, hasDetailedMap, tilesSource } from './detailed-map.ts'
import { MapCamera } from './map-camera.ts'
import { freshness, isFindingMe, isScreen, me, news } from './state.ts'
import { counties, isAlive, shown } from './scene.ts'

const MARKS: readonly Mark[] = ['tail', 'middle', 'front', 'palanquin', 'me']

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
        <div class="world">
          <canvas class="ground" aria-hidden="true" />
          <canvas class="crowd" aria-hidden="true" />
          <canvas class="names" aria-hidden="true" />
          <Marks />
        </div>
      </div>
      <p id="map-keys" class="visually-hidden">
        {words.value.mapKeys}
      </p>
      {isScreen ? null : <Controls camera={() => camera.current} />}
      <Source onShown={repaint} />
    </section>
  )
}

const Marks = () => (
  <>
    {MARKS.map((mark) => (
      <div key={mark} class={`marker marker-${mark}`} data-mark={mark} hidden>
        <MarkSymbol mark={mark} />
        <span>{mark === 'me' ? words.value.me : words.value.part[mark as 'front']}</span>
      </div>
    ))}
  </>
)

/** Who made the data of the ground. */
function Source({ onShown }: { readonly onShown: () => void }) {
  const tiles = detailed.value === 'on'
  const source = tiles ? tilesSource.value : counties.value === null ? '' : words.value.source
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

interface ControlsProps {
  readonly camera: () => MapCamera | null
}

const Controls = ({ camera }: ControlsProps) => {
  const offersRoute = shown.value === 'procession' || !isAlive.value || news.value?.on_map === 0
  return (
    <div class="map-controls" data-over-map>
      <Button icon label={words.value.closer} onClick={() => camera()?.zoom(1)}>
        <Symbol of="closer" />
      </Button>
      <Button icon label={words.value.farther} onClick={() => camera()?.zoom(-1)}>
        <Symbol of="farther" />
      </Button>
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
    </div>
  )
}
