/** Forgets the pilgrim on this device after an erasure, and begins anew. */
import { leave } from '../notifications/web-push.ts'
import { stopRecording } from '../recording/recorder.ts'
import { forgetAll } from '../session/kept.ts'
import { person } from '../session/person.ts'
import { clearQueue } from '../session/queue.ts'
import { forgetDays } from '../way/kept-days.ts'

/** @param complete false: the service still deletes the last parts */
export async function forgetDevice(complete: boolean): Promise<void> {
  stopRecording()
  await clearQueue(person.value?.userId ?? null)
  await leave()
  forgetAll()
  forgetDays()
  location.hash = complete ? 'erased' : 'erasing'
  location.reload()
}
