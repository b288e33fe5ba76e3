/** The consent as the pilgrim gives it again or takes it back: done at once or not at all. */
import type { Answer, Data } from '#shared/client/index.ts'
import { change, person } from './current-state.ts'
import { client, config } from './service.ts'

/** Without consent nothing is recorded: the recorder stops, and the service disconnects tracker apps. */
export async function setConsent(agreed: boolean): Promise<Answer<Data<'setPrivacy'>>> {
  const version = config.value?.privacy_version ?? ''
  const answer = await client.setPrivacy({ agreed, version })
  if (!answer.ok || person.value === null) return answer
  if (agreed) change('agreed', { version, known: true })
  else change('consentTakenBack', null)
  return answer
}
