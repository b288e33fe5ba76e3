/** The consent as the pilgrim gives it again or takes it back. It holds on this phone at once, and waits until it is sent. */
import type { Kept } from '#shared/client/index.ts'
import { tellService } from '../outbox.ts'
import { change, consentWithdrawn, person } from './current-state.ts'
import { config, profile } from './service.ts'

/** Whether the pilgrim agrees, as far as this phone knows. Before the service has the consent, it says nothing of it. */
export const agrees = (): boolean =>
  !consentWithdrawn.value && (person.value?.known === false || profile.value?.privacy_agreed !== false)

/** Without consent nothing is recorded or sent: the recorder stops, and the service disconnects tracker apps. */
export function setConsent(agreed: boolean): Promise<Kept> {
  const version = config.value?.privacy_version ?? ''
  if (agreed) change('agreed', version)
  else change('withdrew', null)
  // The consent alone: the name may have been changed with another phone.
  return tellService({ key: crypto.randomUUID(), version, agreed })
}
