/** Taking part: paused and taken up again, and the consent that it needs. */
import type { Answer, Data } from '#shared/client/index.ts'
import { keep } from '../session/stored-signals.ts'
import { person } from '../session/person.ts'
import { client, config, consentWithdrawn } from '../session/service.ts'

/** Without consent nothing is recorded: the recorder stops, and the service disconnects tracker apps. */
export async function setConsent(agreed: boolean): Promise<Answer<Data<'setPrivacy'>>> {
  const version = config.value?.privacy_version ?? ''
  const answer = await client.setPrivacy({ agreed, version })
  if (!answer.ok || person.value === null) return answer
  if (agreed) keep(person, { ...person.value, privacyVersion: version })
  keep(consentWithdrawn, !agreed)
  return answer
}

/** A pause hides the pilgrim and ends the links. The service still counts what is sent, so recording goes on. */
export const setParticipation = (
  status: 'active' | 'withdrawn',
): Promise<Answer<Data<'setParticipantStatus'>>> => client.setParticipantStatus({ status })
