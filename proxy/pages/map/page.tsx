/** The public map, at `/`; with `?screen` for a display on a wall. */
import { words } from './words.ts'
import { signal } from '@preact/signals'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import { Sheet } from '../design/sheet.tsx'
import { Symbol } from '../design/symbol.tsx'
import { startPage, worksOffline } from '../frame/start-page.tsx'
import { LanguageSwitch, LettersSwitch, ThemeSwitch } from '../frame/switches.tsx'
import { follow } from './follow.ts'
import { MapView } from './map-view.tsx'
import { watchMyStation } from './my-station.ts'
import { Crowd, Me, Notices, partName, Procession, StandingBadge, Ways } from './panel.tsx'
import { loadAtlas } from './ground.ts'
import { counties, isAlive, towns } from './scene.ts'
import { data, eventName, followed, isScreen, leader, news, nowMs } from './state.ts'
import { MyStation, Next, nextStation, Stations } from './stations.tsx'
import { QrCode } from '../design/qr-code.tsx'
import { clock } from './format.ts'
import { pageWords } from '../frame/language.ts'

/** The names and borders of towns are large, and the map shows them only when it is close. */
const TOWNS_AFTER_MS = 1_500

const open = signal(false)
const settings = signal(false)

const Page = () => (
  <main class="follower" data-open={open.value}>
    <MapView />
    <Sheet
      label={words.value.procession(followed.value)}
      words={pageWords.value}
      open={open.value}
      onToggle={(next) => (open.value = next)}
      summary={<Summary />}
    >
      <div class="stack details">
        <Me />
        <Ways />
        <MyStation />
        <Stations />
        <Crowd />
      </div>
    </Sheet>
    <Dialog
      title={pageWords.value.settings}
      open={settings.value}
      onClose={() => (settings.value = false)}
      closeWord={pageWords.value.close}
    >
      <h3>{pageWords.value.language}</h3>
      <LanguageSwitch />
      <h3>{pageWords.value.letters}</h3>
      <LettersSwitch />
      <h3>{pageWords.value.theme}</h3>
      <ThemeSwitch />
    </Dialog>
  </main>
)

/** What a display on a wall shows over its map, to be read from five metres: the event, three facts, a code to scan. */
function Screen() {
  const next = nextStation()
  const map = isAlive.value ? news.value : null
  return (
    <>
      <header class="screen-head" data-over-map>
        <h1>{eventName.value}</h1>
        <strong>{clock(nowMs.value)}</strong>
      </header>
      <section class="screen-foot" aria-label={words.value.procession(followed.value)} data-over-map>
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
          )}
        </div>
        <figure>
          <QrCode text={`${location.origin}/`} label={words.value.map(followed.value)} />
          <figcaption>{words.value.scan}</figcaption>
        </figure>
      </section>
    </>
  )
}

/** A display on a wall has nobody who touches it. */
const WallPage = () => (
  <main class="screen">
    <MapView />
    <Screen />
  </main>
)

const Summary = () => (
  <header class="summary">
    <div class="title">
      <h1>{eventName.value}</h1>
      <Button kind="plain" icon label={pageWords.value.settings} onClick={() => (settings.value = true)}>
        <Symbol of="language" />
      </Button>
    </div>
    <p>
      <StandingBadge />
    </p>
    <Notices />
    <Next />
    <Procession />
  </header>
)

void loadAtlas(data.files['counties'], (shapes) => (counties.value = shapes))
follow()
void startPage(() => {
  document.title = eventName.value
  return isScreen ? <WallPage /> : <Page />
}).then(watchMyStation)
// Not needed for the first view.
const loadTowns = () => void loadAtlas(data.files['towns'], (shapes) => (towns.value = shapes))
addEventListener('load', () => setTimeout(loadTowns, TOWNS_AFTER_MS))
worksOffline()
