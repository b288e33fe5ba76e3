/** What goes on as long as the app is open: sending, recording, and keeping up with the event. */
import { resumeCheckIn } from '../checkin/check-in.ts'
import { sendWaitingSurvey } from '../feedback/survey.ts'
import { sendReports } from '../feedback/waiting-reports.ts'
import { keepHearing } from '../notifications/web-push.ts'
import { watchRecording } from '../recording/recorder.ts'
import { introduce } from './register-pilgrim.ts'
import { openQueue } from './queue.ts'
import { client, refreshConfig, refreshProfile } from './service.ts'
import { watchUpdates } from './update.ts'

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
  await introduce(client)
  await refreshProfile()
  // The service did not know the pilgrim.
  await introduce(client)
  await Promise.all([sendReports(), sendWaitingSurvey()])
}

export function startSession(): void {
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
