/** What goes on as long as the app is open: sending, recording, and keeping up with the event. */
import { keepHearing } from '../notifications/web-push.ts'
import { watchRecording } from '../recording/recorder.ts'
import { introduce } from './introduce.ts'
import { openQueue } from './queue.ts'
import { client, refreshConfig, refreshProfile } from './service.ts'
import { watchUpdates } from './update.ts'

/** Status, message and figures are at most so old while the app is in sight. */
const EVERY_MS = 60_000

async function refresh(): Promise<void> {
  if (document.visibilityState === 'hidden') return
  await refreshConfig()
  await introduce(client)
  await refreshProfile()
}

export function startSession(): void {
  watchUpdates()
  void openQueue()
  // What is recorded before the queue is open is set aside.
  watchRecording()
  void refresh().then(keepHearing)
  setInterval(() => void refresh(), EVERY_MS)
  addEventListener('online', () => void refresh())
  document.addEventListener('visibilitychange', () => void refresh())
}
