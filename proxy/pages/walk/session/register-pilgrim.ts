/** Tells the service who walks and what they agree to. Without a network it is done later. */
import type { Answer, Data } from '#shared/client/index.ts'
import { language } from '../../frame/language.ts'
import { keep } from './stored-signals.ts'
import { person } from './person.ts'
import { client, config, consentWithdrawn, noteError, profileChanged, refreshProfile } from './service.ts'

let introducing = false

/** Sends name and consent, once each; does nothing when the service knows them. */
export async function introduce(): Promise<void> {
  const given = person.value
  if (given === null || given.known || introducing) return
  introducing = true
  try {
    // The name first: it is refused of somebody who was erased elsewhere, whom a consent would bring back.
    const named = await client.syncProfile({ display_name: given.name, language: language.value })
    const agreed = named.ok ? await client.setPrivacy({ agreed: true, version: given.privacyVersion }) : named
    if (!agreed.ok) return noteError(agreed.error)
    // Somebody may have changed the name meanwhile.
    if (person.value === given) keep(person, { ...given, known: true })
    profileChanged()
    await refreshProfile()
  } finally {
    introducing = false
  }
}

/** Without consent nothing is recorded: the recorder stops, and the service disconnects tracker apps. */
export async function setConsent(agreed: boolean): Promise<Answer<Data<'setPrivacy'>>> {
  const version = config.value?.privacy_version ?? ''
  const answer = await client.setPrivacy({ agreed, version })
  if (!answer.ok || person.value === null) return answer
  if (agreed) keep(person, { ...person.value, privacyVersion: version })
  keep(consentWithdrawn, !agreed)
  return answer
}
