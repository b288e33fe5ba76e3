/** The public map, at `/`. */
import { signal } from '@preact/signals'
import type { MapWords } from '#shared/locales/words.ts'
import { Button } from '../design/button.tsx'
import { Dialog } from '../design/dialog.tsx'
import { Sheet } from '../design/sheet.tsx'
import { Symbol } from '../design/symbol.tsx'
import { type Started, startPage, worksOffline } from '../frame/start-page.tsx'
import { LanguageSwitch, ThemeSwitch } from '../frame/switches.tsx'
import { follow } from './follow.ts'
import { MapView } from './map-view.tsx'
import { watchMyStation } from './my-station.ts'
import { Crowd, Me, Notices, Procession, StandingBadge, Ways } from './panel.tsx'
import { loadAtlas } from './ground.ts'
import { counties, towns } from './scene.ts'
import { Screen } from './screen.tsx'
import { data, eventName, isScreen } from './state.ts'
import { MyStation, Next, Stations } from './stations.tsx'
import { WORD_FILES } from './words.ts'

/** The names and borders of towns are large, and the map shows them only when it is close. */
const TOWNS_AFTER_MS = 1_500

const open = signal(false)
const settings = signal(false)

const Page = ({ words, choose }: Started<MapWords>) => (
  <main class="follower" data-open={open.value}>
    <MapView words={words.value} />
    <Sheet
      label={words.value.procession}
      words={words.value.page}
      open={open.value}
      onToggle={(next) => (open.value = next)}
      summary={<Summary words={words.value} />}
    >
      <div class="stack details">
        <Me words={words.value} />
        <Ways words={words.value} />
        <MyStation words={words.value} />
        <Stations words={words.value} />
        <Crowd words={words.value} />
      </div>
    </Sheet>
    <Dialog
      title={words.value.page.settings}
      open={settings.value}
      onClose={() => (settings.value = false)}
      closeWord={words.value.page.close}
    >
      <h3>{words.value.page.language}</h3>
      <LanguageSwitch words={words.value.page} onChoose={choose} />
      <h3>{words.value.page.theme}</h3>
      <ThemeSwitch words={words.value.page} />
    </Dialog>
  </main>
)

/** A display on a wall has nobody who touches it. */
const WallPage = ({ words }: Started<MapWords>) => (
  <main class="screen">
    <MapView words={words.value} />
    <Screen words={words.value} />
  </main>
)

const Summary = ({ words }: { readonly words: MapWords }) => (
  <header class="summary">
    <div class="title">
      <h1>{eventName.value}</h1>
      <Button kind="plain" icon label={words.page.settings} onClick={() => (settings.value = true)}>
        <Symbol of="language" />
      </Button>
    </div>
    <p>
      <StandingBadge words={words} />
    </p>
    <Notices words={words} />
    <Next words={words} />
    <Procession words={words} />
  </header>
)

void loadAtlas(data.files['counties'], (shapes) => (counties.value = shapes))
follow()
void startPage(WORD_FILES, (started) => {
  document.title = eventName.value
  return isScreen ? <WallPage {...started} /> : <Page {...started} />
}).then((started) => watchMyStation(() => started.words.value))
// Not needed for the first view.
const loadTowns = () => void loadAtlas(data.files['towns'], (shapes) => (towns.value = shapes))
addEventListener('load', () => setTimeout(loadTowns, TOWNS_AFTER_MS))
worksOffline()
