/** Finds the walk of a recovery code, and brings it to this device. */
import { signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { show } from '../route.ts'
import { keepDraft } from '../session/drafts.ts'
import { keep } from '../session/stored-signals.ts'
import { codeIsSafe, person } from '../session/person.ts'
import {
  client,
  consentWithdrawn,
  erasedElsewhere,
  type Profile,
  profile,
  tally,
} from '../session/service.ts'
import { tallyOf } from '../checkin/tally.ts'
import { bytesOfAppId } from './app-id.ts'
import type { CodeFault } from './recovery-code.ts'

type Searched = { readonly id: string } | CodeFault

export const found = signal<Profile | null>(null)
/** By a link, which may be somebody else's, and not by a code that was typed. */
export const foundByLink = signal(false)
export const searching = signal(false)
/** `lists`: the word lists could not be loaded. */
export const searchFault = signal<CodeFault | 'unknown' | 'lists' | ClientError | null>(null)

async function idOfTyped(typed: string): Promise<Searched> {
  const [{ idOfCode }, { allWordlists }] = await Promise.all([
    import('./recovery-code.ts'),
    import('./wordlists.ts'),
  ])
  return idOfCode(typed, await allWordlists())
}

async function look(search: Searched): Promise<void> {
  if ('fault' in search) {
    searchFault.value = search
    return
  }
  const answer = await client.readProfile({ userId: search.id })
  if (answer.ok) found.value = answer.data
  else searchFault.value = answer.error.code === 'not-found' ? 'unknown' : answer.error
}

async function search(of: () => Promise<Searched>, byLink = false): Promise<void> {
  searching.value = true
  foundByLink.value = byLink
  searchFault.value = found.value = null
  try {
    await look(await of())
  } catch {
    searchFault.value = 'lists'
  } finally {
    searching.value = false
  }
}

export const findByCode = (typed: string): Promise<void> => search(() => idOfTyped(typed))

/** The other phone's code was photographed: the id is in the address, behind `#restore=`. */
export function findByAddress(): void {
  found.value = searchFault.value = null
  const id = location.hash.split('=')[1] ?? ''
  if (bytesOfAppId(id) === null) return
  // Nobody reads it over the shoulder, and the history does not keep it.
  history.replaceState(null, '', '#restore')
  void search(async () => ({ id }), true)
}

/** The walk as it is now. @returns null: it was erased on the other phone since it was found */
async function readAgain(before: Profile): Promise<Profile | null> {
  searching.value = true
  const answer = await client.readProfile({ userId: before.userId })
  searching.value = false
  if (answer.ok) return answer.data
  return answer.error.code === 'not-found' ? null : before
}

/** Goes on with this walk on this device. */
export async function takeWalk(chosen: Profile): Promise<void> {
  const taken = await readAgain(chosen)
  if (taken === null) {
    found.value = null
    searchFault.value = 'unknown'
    // The first page says what happened.
    if (person.value === null) location.hash = 'gone'
    return
  }
  keepDraft({ code: null })
  // What was taken back with another phone is asked for again on the first page.
  keep(consentWithdrawn, !taken.privacy_agreed)
  keep(profile, taken)
  keep(tally, tallyOf(taken.checkins))
  keep(erasedElsewhere, false)
  keep(codeIsSafe, true)
  // The consent is the pilgrim's, not the phone's: it is asked for where the service does not have it, or an older one.
  const privacyVersion = taken.privacy_agreed ? (taken.privacy_version ?? '') : ''
  keep(person, { userId: taken.userId, name: taken.display_name ?? '', privacyVersion, known: true })
  show('walk')
}
