/** A walk from another phone: the code is typed, and the pilgrim is asked whether it is theirs. */
import { words } from '../words.ts'
import { useEffect } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { notDoneSentence } from '../problem.ts'
import {
  findByAddress,
  findByCode,
  found,
  foundByLink,
  searchFault,
  searching,
  takeWalk,
} from '../recovery/find-walk.ts'
import { splitCode } from '../recovery/split-code.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { person } from '../session/person.ts'
import { Lost } from './recovery-code.tsx'
import { Notice, View } from './view.tsx'

function faultText(): string | null {
  const { recovery, problems } = words.value
  const fault = searchFault.value
  if (fault === null) return null
  if (fault === 'unknown') return recovery.unknown
  if (fault === 'lists') return problems.network
  if (!('fault' in fault)) return notDoneSentence(fault)
  if (fault.fault === 'count') return recovery.words(fault.words)
  return fault.fault === 'word' ? recovery.word(fault.word, fault.number) : recovery.checksum
}

export function Restore() {
  const { recovery } = words.value
  useEffect(findByAddress, [])
  const whose = found.value
  return (
    <View title={recovery.restoreTitle} back step={whose}>
      {person.value === null ? null : <Notice kind="warning">{recovery.replaces}</Notice>}
      {whose === null ? (
        <Typing />
      ) : (
        <>
          <p class="strong">{recovery.found(whose.display_name ?? '–', whose.km)}</p>
          {foundByLink.value ? <Notice kind="warning">{recovery.byLink}</Notice> : null}
          <p>{recovery.both}</p>
          <Button kind="primary" busy={searching.value} onClick={() => void takeWalk(whose)}>
            {recovery.yes}
          </Button>
          <Button onClick={() => (found.value = null)}>{recovery.no}</Button>
          <Lost />
        </>
      )}
    </View>
  )
}

const NUMBERS = Array.from({ length: 12 }, (_, i) => i)
const fieldOf = (i: number): HTMLElement | null => document.getElementById(`code-${i + 1}`)

/** A field for each word, with its number on the paper. Several words in one go on in the fields after it. */
function Typing() {
  const { recovery } = words.value
  const typed = draftOf('code') ?? []
  const type = (i: number, text: string) => {
    const given = splitCode(text).map((word) => word.normalize('NFC'))
    const fields = NUMBERS.map((one) => draftOf('code')?.[one] ?? '')
    if (given.length < 2) fields[i] = text.trim()
    // A whole code begins with its first word, whichever field it is put into.
    else fields.splice(given.length < NUMBERS.length ? i : 0, given.length, ...given)
    keepDraft({ code: fields.slice(0, NUMBERS.length) })
    // A blank or a Chinese character ends a word.
    if (given.length > 1 || (given.length === 1 && /[\s\p{Script=Han}]$/u.test(text)))
      fieldOf(Math.min(NUMBERS.length - 1, i + given.length))?.focus()
  }
  const filled = typed.filter((word) => word !== '')
  return (
    <form
      class="stack code"
      onSubmit={(event) => {
        event.preventDefault()
        void findByCode(filled.join(' '))
      }}
    >
      <p>{recovery.restoreWhy}</p>
      <ol class="code-fields" aria-label={recovery.typed} aria-describedby="code-count">
        {NUMBERS.map((i) => (
          <WordField
            key={i}
            number={i + 1}
            label={recovery.nth(i + 1)}
            value={typed[i] ?? ''}
            onType={(text) => type(i, text)}
          />
        ))}
      </ol>
      <p id="code-count" class="strong">
        {recovery.counted(filled.length)}
      </p>
      <p class="wrong" role="alert">
        {faultText()}
      </p>
      <Button kind="primary" type="submit" busy={searching.value}>
        {recovery.look}
      </Button>
      <p class="quiet">{recovery.restoreWhere}</p>
    </form>
  )
}

/** Nothing but an attribute: as a property it is a boolean, and `off` would switch it on. */
const uncorrected = (field: HTMLElement | null): void => field?.setAttribute('autocorrect', 'off')

/** The key chooses a character of an input method. Safari tells it by the key's code alone. */
const isOfInputMethod = ({ isComposing, keyCode }: KeyboardEvent): boolean => isComposing || keyCode === 229

function WordField(props: {
  readonly number: number
  readonly label: string
  readonly value: string
  readonly onType: (text: string) => void
}) {
  const { number, label, value, onType } = props
  return (
    <li>
      <label for={`code-${number}`}>{number}</label>
      <input
        id={`code-${number}`}
        type="text"
        aria-label={label}
        autocapitalize="none"
        autocomplete="off"
        ref={uncorrected}
        enterkeyhint={number < NUMBERS.length ? 'next' : 'search'}
        spellcheck={false}
        value={value}
        onInput={({ currentTarget, isComposing }) => {
          // An input method is still asking which character is meant.
          if (!isComposing) onType(currentTarget.value)
        }}
        onCompositionEnd={({ currentTarget }) => onType(currentTarget.value)}
        // Some browsers drop the line breaks of a pasted text, and with them the ends of the words.
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? ''
          if (splitCode(pasted).length < 2) return
          event.preventDefault()
          onType(pasted)
        }}
        // The next word, and after the last one the search.
        onKeyDown={(event) => {
          const next = fieldOf(number)
          if (event.key !== 'Enter' || isOfInputMethod(event) || next === null) return
          if (event.currentTarget.value === '') return
          event.preventDefault()
          next.focus()
        }}
      />
    </li>
  )
}
