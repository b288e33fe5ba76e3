/** Tells the service who walks and what they agreed to. Without a network it is done later. */
import type { Client } from '#shared/client/index.ts'
import { language } from '../../frame/language.ts'
import { keep } from './stored-signals.ts'
import { person } from './person.ts'
import { noteError, profileChanged, refreshProfile } from './service.ts'

let introducing = false

/** Sends name and consent, once each; does nothing when the service knows them. */
export async function introduce(client: Pick<Client, 'syncProfile' | 'setPrivacy'>): Promise<void> {
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
