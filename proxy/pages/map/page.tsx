/** The public map, at `/`; with `?screen` for a wall display. */
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
import { Crowd, Me, Notices, Procession, StandingBadge, Ways } from './panel.tsx'
import { loadAtlas } from './ground.ts'
import { worldX, worldY } from './projection.ts'
import { counties, over, towns } from './scene.ts'
import { data, eventName, followed, news, isScreen, route } from './state.ts'
import { MyStation, Next, Stations } from './stations.tsx'
import { WallPage } from './wall.tsx'
import { language, pageWords, wordsIn } from '../frame/language.ts'

/** The names and borders of towns are large, and only shown at close range; so are places along the way. */
const LATER_MS = 1_500

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

const Summary = () => (
  <header class="summary">
    <div class="title">
      <h1>{eventName.value}</h1>
      <StandingBadge />
      <Button kind="plain" icon label={pageWords.value.settings} onClick={() => (settings.value = true)}>
        <Symbol of="language" />
      </Button>
    </div>
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
const loadLater = () => {
  void loadAtlas(data.files['towns'], (shapes) => (towns.value = shapes))
  // Without a network there are none until the next visit.
  import('./later.ts').then(
    ({ showLater }) => showLater([news, eventName], route, language, over, wordsIn, worldX, worldY),
    () => undefined,
  )
}
addEventListener('load', () => setTimeout(loadLater, LATER_MS))
worksOffline()
