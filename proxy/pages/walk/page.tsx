/** The pilgrims' app, and its background work while it is open: sending, recording, refreshing. */
import { effect } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { startPage, worksOffline } from '../frame/start-page.tsx'
import { DarkScreen } from './views/dark-screen.tsx'
import { Gone, OwnData } from './views/data.tsx'
import { Feedback } from './views/feedback.tsx'
import { LargeMap } from './views/large-map.tsx'
import { Display, Me } from './views/me.tsx'
import { Pauses } from './views/record.tsx'
import { RecordedFile } from './views/recorded-file.tsx'
import { RecoveryCode } from './views/recovery-code.tsx'
import { Restore } from './views/restore.tsx'
import { Say } from './views/feedback-tab.tsx'
import { ShareLinks } from './views/shares.tsx'
import { EventStatus, NewConsent, OutsideLine, Status } from './views/status.tsx'
import { Survey } from './views/survey.tsx'
import { SosButton, SosOutcome } from './views/sos.tsx'
import { Tabs } from './views/tabs.tsx'
import { View as Frame } from './views/view.tsx'
import { Trackers } from './views/trackers.tsx'
import { Waiting } from './views/waiting.tsx'
import { Walk } from './views/walk.tsx'
import { Way } from './views/my-walk.tsx'
import { Welcome } from './views/welcome.tsx'
import { type View, view } from './route.ts'
import { loadWords } from '../frame/language.ts'
import { notKept, valuesRead } from './session/stored-signals.ts'
import { change, mode } from './session/current-state.ts'
import { noteTouch, readOften, refreshConfig, refreshProfile } from './session/service.ts'
import { watchSos } from './emergency/sos.ts'
import { resumeCheckIn } from './checkin/check-in.ts'
import { keepHearing } from './notifications/web-push.ts'
import { watchRecording } from './recording/recorder.ts'
import { introduce, openQueue, tellLanguage } from './outbox.ts'
import { cadenceOf } from './state.ts'
import { watchUpdates } from './session/update.ts'

/** Maximum age of the event's status when the app is touched. */
const AT_TOUCH_MS = 10_000

/** Time of the last status request, in epoch milliseconds. */
let askedMs = -Infinity

async function askForStatus(): Promise<void> {
  askedMs = Date.now()
  await refreshConfig()
}

/** An idle app polls rarely. A touch asks at once, so only active users cost extra requests. */
function touched(): void {
  const hasRested = !readOften()
  noteTouch()
  if (hasRested) void refresh()
  else if (Math.abs(Date.now() - askedMs) >= AT_TOUCH_MS) void askForStatus()
}

const cadence = () => cadenceOf(mode.peek(), false, readOften())

async function refresh(): Promise<void> {
  scheduleRefresh()
  if (document.visibilityState === 'hidden') return
  await askForStatus()
  if (!cadence().readsProfile) return
  await introduce()
  await refreshProfile()
  // The service may have forgotten the pilgrim.
  await introduce()
}

let next: ReturnType<typeof setTimeout> | undefined
/** Schedules the next refresh with ±25 % jitter, so that a crowd does not ask at the same moment. */
function scheduleRefresh(): void {
  clearTimeout(next)
  next = setTimeout(() => void refresh(), cadence().readMs * (0.75 + Math.random() / 2))
}

/** Refreshes when the app becomes visible again. */
function shown(): void {
  if (document.visibilityState === 'visible') noteTouch()
  void refresh()
}

function startSession(): void {
  watchUpdates()
  watchRecording()
  resumeCheckIn()
  watchSos()
  void refresh().then(keepHearing)
  tellLanguage()
  effect(() => change('restoring', view.value === 'restore'))
  addEventListener('online', () => void refresh())
  document.addEventListener('visibilitychange', shown)
  // The page was restored from the back/forward cache and missed changes of other pages.
  window.addEventListener('pageshow', ({ persisted }) => {
    // Values that a full phone did not store exist only in this page's memory.
    if (persisted && !notKept.peek()) location.reload()
  })
  for (const touch of ['pointerdown', 'keydown']) addEventListener(touch, touched, { passive: true })
}

/** In thumb's reach even without a walk: it shows whom to call. */
const SosBar = () => (
  <nav class="tabs">
    <SosButton />
  </nav>
)

/** Shown even if the rest of a walk is hidden. */
const SosStatus = () => (
  <div class="stack-2 status">
    <SosOutcome />
  </div>
)

const App = () => {
  if (mode.value === 'opening')
    return (
      <Frame title={document.title}>
        <Waiting />
      </Frame>
    )
  if (mode.value === 'restoring')
    return (
      <>
        <SosStatus />
        <Restore />
      </>
    )
  if (mode.value === 'no-walk')
    return (
      <>
        {/* Show a paused or ended event before the welcome screen. */}
        <div class="stack-2 status">
          <SosOutcome />
          <EventStatus />
          <OutsideLine />
        </div>
        <Welcome />
        <SosBar />
      </>
    )
  if (mode.value === 'erased')
    return (
      <>
        <SosStatus />
        <Gone />
        <SosBar />
      </>
    )
  return (
    <>
      <Status />
      <NewConsent />
      {VIEW_OF[view.value]()}
      <Tabs />
      <DarkScreen />
    </>
  )
}

const VIEW_OF: Readonly<Record<View, () => ComponentChild>> = {
  walk: () => <Walk />,
  restore: () => <Restore />,
  way: () => <Way />,
  map: () => <LargeMap />,
  say: () => <Say />,
  me: () => <Me />,
  survey: () => <Survey />,
  feedback: () => <Feedback />,
  code: () => <RecoveryCode />,
  trackers: () => <Trackers />,
  file: () => <RecordedFile />,
  data: () => <OwnData />,
  display: () => <Display />,
  share: () => <ShareLinks />,
  pauses: () => <Pauses />,
}

worksOffline()
const opening = openQueue()
async function open(): Promise<void> {
  await valuesRead
  change('opened', null)
  startSession()
}
void open()
/** Time after which the page shows why the device's stored values cannot be read. */
const PATIENCE_MS = 3_000
// Load the texts in the meantime.
void loadWords()
void Promise.race([valuesRead, opening, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]).then(
  () => startPage(() => <App />),
)
