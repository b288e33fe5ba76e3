/** The pilgrims' app, and what goes on as long as it is open: sending, recording, keeping up with the event. */
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
import { EventStatus, NewConsent, Status } from './views/status.tsx'
import { Survey } from './views/survey.tsx'
import { Tabs } from './views/tabs.tsx'
import { Trackers } from './views/trackers.tsx'
import { Walk } from './views/walk.tsx'
import { Way } from './views/my-walk.tsx'
import { Welcome } from './views/welcome.tsx'
import { type View, view } from './route.ts'
import { person } from './session/person.ts'
import { erasedElsewhere, refreshConfig, refreshProfile } from './session/service.ts'
import { resumeCheckIn } from './checkin/check-in.ts'
import { sendWaitingSurvey } from './feedback/survey.ts'
import { sendReports } from './feedback/waiting-reports.ts'
import { keepHearing } from './notifications/web-push.ts'
import { watchRecording } from './recording/recorder.ts'
import { introduce } from './session/register-pilgrim.ts'
import { openQueue } from './session/queue.ts'
import { watchUpdates } from './session/update.ts'

/** Status, message and figures are at most so old while the app is in sight. */
const EVERY_MS = 60_000
/** Whoever touches the app sees a status that is at most so old. */
const AT_TOUCH_MS = 10_000

/** When the status was asked for last, in epoch milliseconds. */
let askedMs = -Infinity

async function askForStatus(): Promise<void> {
  askedMs = Date.now()
  await refreshConfig()
}

/**
 * Nobody acts on an app that only lies there, so it asks once a minute. At a touch it asks at once: that costs a
 * request of those who act, and not one of everybody every few seconds.
 */
function touched(): void {
  if (Math.abs(Date.now() - askedMs) >= AT_TOUCH_MS) void askForStatus()
}

async function refresh(): Promise<void> {
  if (document.visibilityState === 'hidden') return
  await askForStatus()
  const isKnown = person.value?.known
  await introduce()
  await refreshProfile()
  // The service did not know the pilgrim any more. What it has just refused is not sent again.
  if (isKnown) await introduce()
  await Promise.all([sendReports(), sendWaitingSurvey()])
}

function startSession(): void {
  watchUpdates()
  void openQueue()
  // What is recorded before the queue is open is set aside.
  watchRecording()
  resumeCheckIn()
  void refresh().then(keepHearing)
  setInterval(() => void refresh(), EVERY_MS)
  addEventListener('online', () => void refresh())
  document.addEventListener('visibilitychange', () => void refresh())
  for (const touch of ['pointerdown', 'keydown']) addEventListener(touch, touched, { passive: true })
}

const App = () => {
  if (view.value === 'restore') return <Restore />
  if (person.value === null)
    return (
      <>
        {/* Of a pause or the end a newcomer learns before anything else. */}
        <div class="status">
          <EventStatus />
        </div>
        <Welcome />
      </>
    )
  if (erasedElsewhere.value) return <Gone />
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
startSession()
void startPage(() => <App />)
