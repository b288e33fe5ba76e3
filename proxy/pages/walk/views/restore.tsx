/** A walk from another phone: the code is typed, the pilgrim is asked whether it is theirs. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { sentenceOf } from '../problem.ts'
import { bytesOfAppId } from '../recovery/app-id.ts'
import type { CodeFault } from '../recovery/recovery-code.ts'
import { show } from '../route.ts'
import { keep } from '../session/kept.ts'
import { codeIsSafe, person } from '../session/person.ts'
import { client, type Profile, profile } from '../session/service.ts'
import { Notice, View } from './view.tsx'

async function idOfTyped(typed: string): Promise<{ id: string } | CodeFault> {
  const [{ idOfCode }, { allWordlists }] = await Promise.all([
    import('../recovery/recovery-code.ts'),
    import('../recovery/wordlists.ts'),
  ])
  return idOfCode(typed, await allWordlists())
}

function faultText({ recovery }: WalkWords, fault: CodeFault): string {
  if (fault.fault === 'count') return recovery.words(fault.words)
  return fault.fault === 'word' ? recovery.word(fault.word) : recovery.checksum
}

export function Restore({ words }: { readonly words: WalkWords }) {
  const { recovery, back } = words
  const typed = useSignal('')
  const said = useSignal<string | null>(null)
  const found = useSignal<Profile | null>(null)
  const busy = useSignal(false)
  const look = async (given: { id: string } | CodeFault) => {
    if ('fault' in given) {
      said.value = faultText(words, given)
      return
    }
    const answer = await client.readProfile({ userId: given.id })
    if (answer.ok) found.value = answer.data
    else
      said.value =
        answer.error.code === 'not-found' ? recovery.unknown : sentenceOf(words, answer.error as ClientError)
  }
  const search = async (given: () => Promise<{ id: string } | CodeFault>) => {
    busy.value = true
    said.value = null
    try {
      await look(await given())
    } catch {
      // The word lists could not be loaded.
      said.value = words.problems.network
    } finally {
      busy.value = false
    }
  }
  // The other phone photographed the code.
  useEffect(() => {
    const id = location.hash.split('=')[1] ?? ''
    if (bytesOfAppId(id) === null) return
    history.replaceState(null, '', '#restore')
    void search(async () => ({ id }))
  }, [])
  const take = (taken: Profile) => {
    keep(profile, taken)
    keep(codeIsSafe, true)
    // The consent of this device is asked for anew.
    keep(person, { userId: taken.userId, name: taken.display_name ?? '', privacyVersion: '', known: true })
    show('walk')
  }
  const whose = found.value
  if (whose !== null)
    return (
      <View title={recovery.restoreTitle} back={back}>
        <p class="strong">{recovery.found(whose.display_name ?? '–', whose.km)}</p>
        <Button kind="primary" onClick={() => take(whose)}>
          {recovery.yes}
        </Button>
        <Button onClick={() => (found.value = null)}>{recovery.no}</Button>
      </View>
    )
  return (
    <View title={recovery.restoreTitle} back={back}>
      <p>{recovery.restoreWhy}</p>
      {person.value === null ? null : <Notice kind="warning">{recovery.replaces}</Notice>}
      <div class="field">
        <label for="code">{recovery.typed}</label>
        <textarea
          id="code"
          rows={4}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="code-said"
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
        <p id="code-said" class="wrong" role="alert">
          {said.value}
        </p>
      </div>
      <Button kind="primary" busy={busy.value} onClick={() => void search(() => idOfTyped(typed.value))}>
        {recovery.look}
      </Button>
    </View>
  )
}
