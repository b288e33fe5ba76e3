/**
 * Giving the consent again or withdrawing it. It takes effect on this phone at once and is queued for the
 * service.
 */
import type { Kept } from '#shared/client/index.ts'
import { tellService } from '../outbox.ts'
import { change, consentWithdrawn, person } from './current-state.ts'
import { noticeVersion } from './notice.ts'
import { profile } from './service.ts'

/**
 * Whether the pilgrim has consented, as far as this phone knows. Until the service has the consent, its
 * profile does not count.
 */
export const agrees = (): boolean =>
  !consentWithdrawn.value && (person.value?.known === false || profile.value?.privacy_agreed !== false)

/**
 * Without consent nothing is recorded or sent: the recorder stops, and the service disconnects tracker apps.
 */
export function setConsent(agreed: boolean): Promise<Kept> {
  const version = noticeVersion.value
  if (agreed) change('agreed', version)
  else change('withdrew', null)
  // Send only the consent: the name may have been changed on another phone.
  return tellService({ key: crypto.randomUUID(), version, agreed })
}
