/** A walk from another phone: the code is typed, and the pilgrim is asked whether it is theirs. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import { Button } from '../../design/button.tsx'
import { sentenceOf } from '../problem.ts'
import { findByAddress, findByCode, found, searchFault, searching, takeWalk } from '../recovery/find-walk.ts'
import { splitCode } from '../recovery/split-code.ts'
import { person } from '../session/person.ts'
import { Notice, View } from './view.tsx'

function faultText(words: WalkWords): string | null {
  const { recovery, problems } = words
  const fault = searchFault.value
  if (fault === null) return null
  if (fault === 'unknown') return recovery.unknown
  if (fault === 'lists') return problems.network
  if (!('fault' in fault)) return sentenceOf(words, fault)
  if (fault.fault === 'count') return recovery.words(fault.words)
  return fault.fault === 'word' ? recovery.word(fault.word) : recovery.checksum
}

export function Restore({ words }: { readonly words: WalkWords }) {
  const { recovery, back } = words
  useEffect(findByAddress, [])
  const whose = found.value
  return (
    <View title={recovery.restoreTitle} back={back}>
      {person.value === null ? null : <Notice kind="warning">{recovery.replaces}</Notice>}
      {whose === null ? (
        <Typing words={words} />
      ) : (
        <>
          <p class="strong">{recovery.found(whose.display_name ?? '–', whose.km)}</p>
          <Button kind="primary" busy={searching.value} onClick={() => void takeWalk(whose)}>
            {recovery.yes}
          </Button>
          <Button onClick={() => (found.value = null)}>{recovery.no}</Button>
        </>
      )}
    </View>
  )
}

function Typing({ words }: { readonly words: WalkWords }) {
  const { recovery } = words
  const typed = useSignal('')
  return (
    <>
      <p>{recovery.restoreWhy}</p>
      <div class="field">
        <label for="code">{recovery.typed}</label>
        <textarea
          id="code"
          rows={4}
          autocapitalize="none"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="code-count code-said"
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
        <p id="code-count" class="strong">
          {recovery.counted(splitCode(typed.value).length)}
        </p>
        <p id="code-said" class="wrong" role="alert">
          {faultText(words)}
        </p>
      </div>
      <Button kind="primary" busy={searching.value} onClick={() => void findByCode(typed.value)}>
        {recovery.look}
      </Button>
    </>
  )
}
