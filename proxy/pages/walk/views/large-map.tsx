/** The map of the own way: a picture in the view, a full-screen map, and the choice of the day. */
import { words } from '../words.ts'
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { Symbol } from '../../design/symbol.tsx'
import type { MapFrame } from '../../map/map-frame.ts'
import { figure } from '#shared/locales/units.ts'
import { dayText, unitText } from '../format.ts'
import { ownSums, readWay, showDay, shownDay } from '../way/own-way.ts'
import { BackBar } from './tabs.tsx'
import { pageWords } from '../../frame/language.ts'

type WayMapScript = typeof import('./way-map.tsx')

const script = signal<WayMapScript | null>(null)

/** Loads the map's script once. Without it, figures and texts are shown alone. */
async function loadWayMap(): Promise<void> {
  if (script.value !== null) return
  try {
    script.value = await import('./way-map.tsx')
  } catch {
    // Offline at the first use: the next view tries again.
  }
}

export function MapPicture() {
  const { way } = words.value
  useEffect(() => void loadWayMap(), [])
  const shown = shownDay.value
  const WayMap = script.value?.WayMap
  return (
    <a class="way-map" href="#map">
      {WayMap === undefined ? null : <WayMap still />}
      {shown === null ? null : (
        <>
          <span class="visually-hidden">{way.map(dayText(shown.day), shown.sums.km)}</span>
          <strong class="way-map-km" aria-hidden="true" data-over-map>
            {figure(shown.sums.km)} {unitText('km')}
          </strong>
        </>
      )}
      <span class="way-map-open" data-over-map>
        {way.larger} ›
      </span>
    </a>
  )
}

let camera: MapFrame | null = null
/** Keeps names on the map clear of overlays. */
const repaint = (): void => camera?.recolour()
const holdCamera = (made: MapFrame | null): void => {
  camera = made
}

export function LargeMap() {
  const { tabs, way } = words.value
  useEffect(() => {
    void loadWayMap()
    void readWay()
  }, [])
  const shown = shownDay.value
  const loaded = script.value
  const named = loaded?.hasAtlas.value ?? false
  useEffect(repaint, [named])
  return (
    <>
      <main class="large-map">
        <header data-over-map>
          {shown === null ? null : (
            <strong class="way-map-km">
              {figure(shown.sums.km)} {unitText('km')}
            </strong>
          )}
          <h1 tabIndex={-1} class="visually-hidden">
            {tabs.way}
          </h1>
          <DaySwitch />
        </header>
        {loaded === null ? null : (
          <>
            <loaded.WayMap
              label={shown === null ? tabs.way : way.map(dayText(shown.day), shown.sums.km)}
              keys={pageWords.value.mapKeys}
              onCamera={holdCamera}
            />
            <loaded.Controls camera={() => camera}>
              <Button icon label={way.wholeDay} onClick={() => camera?.follow()}>
                <Symbol of="route" />
              </Button>
            </loaded.Controls>
          </>
        )}
        {named ? (
          <small class="map-source" data-over-map>
            {pageWords.value.mapSource}
          </small>
        ) : null}
      </main>
      <BackBar />
    </>
  )
}

/** Chooses the shown day; empty if there is only one. */
export function DaySwitch() {
  const busy = useSignal(false)
  const days = ownSums.value?.days ?? []
  const index = days.findIndex(({ day }) => day === shownDay.value?.day)
  if (index < 0 || days.length === 1) return null
  const choose = async (day: string | undefined) => {
    if (day === undefined) return
    busy.value = true
    await showDay(day)
    busy.value = false
  }
  return (
    <div class="day-switch" aria-busy={busy.value}>
      <Button
        icon
        label={words.value.way.dayBefore}
        disabled={index === 0}
        onClick={() => void choose(days[index - 1]?.day)}
      >
        ‹
      </Button>
      <select
        aria-label={words.value.way.day}
        value={days[index]!.day}
        onChange={({ currentTarget }) => void choose(currentTarget.value)}
      >
        {days.map(({ day }) => (
          <option key={day} value={day}>
            {dayText(day)}
          </option>
        ))}
      </select>
      <Button
        icon
        label={words.value.way.dayAfter}
        disabled={index === days.length - 1}
        onClick={() => void choose(days[index + 1]?.day)}
      >
        ›
      </Button>
    </div>
  )
}
