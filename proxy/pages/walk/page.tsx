/** The pilgrims' app, and what goes on as long as it is open: sending, recording, keeping up with the event. */
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

/** Whoever touches the app sees a status that is at most so old. */
const AT_TOUCH_MS = 10_000

/** When the status was asked for last, in epoch milliseconds. */
let askedMs = -Infinity

async function askForStatus(): Promise<void> {
  askedMs = Date.now()
  await refreshConfig()
}

/**
 * Nobody acts on an app that only lies there, so it asks rarely. At a touch it asks at once: that costs a request of
 * those who act, and not one of everybody every few seconds.
 */
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
  // The service may not know the pilgrim any more.
  await introduce()
}

let next: ReturnType<typeof setTimeout> | undefined
/** The next reading, a quarter earlier or later, so that a crowd does not ask at the same moment. */
function scheduleRefresh(): void {
  clearTimeout(next)
  next = setTimeout(() => void refresh(), cadence().readMs * (0.75 + Math.random() / 2))
}

/** Whoever looks at the app again sees what is true now. */
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
  // The browser shows a page again that it had stopped: what other pages have kept since then did not reach it.
  window.addEventListener('pageshow', ({ persisted }) => {
    // What a full phone did not keep is in the memory of this page alone.
    if (persisted && !notKept.peek()) location.reload()
  })
  for (const touch of ['pointerdown', 'keydown']) addEventListener(touch, touched, { passive: true })
}

/** In reach of the thumb also without a walk: it names whom to call. */
const SosBar = () => (
  <nav class="tabs">
    <SosButton />
  </nav>
)

/** Also where nothing else of a walk is shown. */
const SosStatus = () => (
  <div class="status">
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
        {/* Of a pause or the end a newcomer learns before anything else. */}
        <div class="status">
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
/** After this time the page says why the device does not give what it keeps. */
const PATIENCE_MS = 3_000
// The words are loaded meanwhile.
void loadWords()
void Promise.race([valuesRead, opening, new Promise((resolve) => setTimeout(resolve, PATIENCE_MS))]).then(
  () => startPage(() => <App />),
)
