/** Erases the pilgrim, at the service and on this device. */
import type { ClientError } from '#shared/client/index.ts'
import { leave } from '../notifications/web-push.ts'
import { stopRecording } from '../recording/recorder.ts'
import { forgetAll } from '../session/stored-signals.ts'
import { person } from '../session/person.ts'
import { clearQueue } from '../session/queue.ts'
import { client, noteError } from '../session/service.ts'
import { forgetDays } from '../way/kept-days.ts'

/** @returns why the service did not erase; then nothing is forgotten here either */
export async function eraseEverything(): Promise<ClientError | null> {
  const answer = await client.eraseOwnData({ confirm: true })
  if (answer.ok) await forgetDevice(answer.data.remaining.length === 0)
  // Nothing is stored about somebody who never had a network, or who was erased on another phone.
  else if (answer.error.code === 'not-found') await forgetDevice(true)
  else {
    noteError(answer.error)
    return answer.error
  }
  return null
}

/** @param complete false: the service still deletes the last parts */
async function forgetDevice(complete: boolean): Promise<void> {
  stopRecording()
  await clearQueue(person.value?.userId ?? null)
  await leave()
  forgetAll()
  forgetDays()
  location.hash = complete ? 'erased' : 'erasing'
  location.reload()
}
