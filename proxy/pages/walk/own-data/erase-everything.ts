/** Erases the pilgrim, at the service and on this device. */
import type { ClientError } from '#shared/client/index.ts'
import { client, noteError } from '../session/service.ts'
import { forgetDevice } from './forget-device.ts'

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
