/**
 * Takes over a walk from another phone: the code is typed, and the pilgrim confirms that the walk is theirs.
 */
import { words } from '../words.ts'
import { sendSos } from '../emergency/sos.ts'
import { useEffect, useRef } from 'preact/hooks'
import { Button } from '../../design/button.tsx'
import { notDoneSentence } from '../problem.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { change, codeIsSafe, person } from '../session/current-state.ts'
import { CodeBehind, Lost } from './recovery-code.tsx'
import { Notice, NotLoaded } from './notice.tsx'
import { View } from './view.tsx'
import { signal, useSignal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { show } from '../route.ts'
import { forgetWalk, keep } from '../session/stored-signals.ts'
import { client, type Profile, profile, tally, usesLine } from '../session/service.ts'
import { keepHearing } from '../notifications/web-push.ts'
import { tallyOf } from '../checkin/tally.ts'
import { anythingWaits, clearEntries, queue, sendKept, sendNow, waiting } from '../outbox.ts'
import { SaveWaiting, toldAndWaiting, whyWaits } from './waiting.tsx'
import { bytesOfAppId } from '#shared/core/rules/app-id.ts'
import { splitCode } from '../recovery/app-id.ts'
import type { CodeFault } from '../recovery/recovery-code.ts'

type Searched = { readonly id: string } | CodeFault

const found = signal<Profile | null>(null)
/** Whether it was opened by a link, which may be somebody else's, rather than by a typed code. */
const foundByLink = signal(false)
const searching = signal(false)
/** `lists`: the word lists could not be loaded. */
const searchFault = signal<CodeFault | 'unknown' | 'lists' | ClientError | null>(null)

async function idOfTyped(typed: string): Promise<Searched> {
  const { allWordlists, idOfCode } = await import('../recovery/recovery-code.ts')
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

const findByCode = (typed: string): Promise<void> => search(() => idOfTyped(typed))

/** The id from the other phone's QR code: it is in the address after `#restore=`. */
function findByAddress(): void {
  const id = location.hash.split('=')[1] ?? ''
  if (bytesOfAppId(id) === null) return
  // Remove the id from the address bar and the history.
  history.replaceState(null, '', '#restore')
  void search(async () => ({ id }), true)
}

/** The current state of the walk. @returns null if it was erased on the other phone since it was found */
async function readAgain(before: Profile): Promise<Profile | null> {
  searching.value = true
  const answer = await client.readProfile({ userId: before.userId })
  searching.value = false
  if (answer.ok) return answer.data
  return answer.error.code === 'not-found' ? null : before
}

/** The walk to take over once the pilgrim has decided about pending data of the previous one. */
const asked = signal<Profile | null>(null)

/**
 * Continues this walk on this device. Entries belong to one pilgrim: the previous walk's must be sent or
 * deleted first.
 */
async function takeWalk(chosen: Profile): Promise<void> {
  const taken = await readAgain(chosen)
  if (taken === null) {
    found.value = null
    searchFault.value = 'unknown'
    // The first page explains what happened.
    if (person.value === null) location.hash = 'gone'
    return
  }
  const isOther = person.value !== null && person.value.userId !== taken.userId
  if (isOther) {
    searching.value = true
    await sendSos()
    // Usually everything is sent now, and the pilgrim need not choose.
    if (anythingWaits.value) await sendKept().catch(() => null)
    searching.value = false
  }
  if (isOther && anythingWaits.value) asked.value = taken
  else await takeOver(taken)
}

export async function takeOver(taken: Profile): Promise<void> {
  const before = person.value?.userId
  if (before !== undefined && before !== taken.userId) {
    await clearEntries(before)
    forgetWalk()
  }
  asked.value = found.value = null
  // Start from the values that the service has.
  keep(profile, taken)
  keep(tally, tallyOf(taken.checkins))
  keep(codeIsSafe, true)
  // The consent belongs to the pilgrim, not to the phone: ask for it if the service has none, or an older
  // version.
  const privacyVersion = taken.privacy_agreed ? (taken.privacy_version ?? '') : ''
  const { userId, display_name: name } = taken
  change('taken', {
    person: { userId, name: name ?? '', privacyVersion, known: true },
    agreed: taken.privacy_agreed,
  })
  // Subscribe this device for its new pilgrim.
  void keepHearing()
  // Clear the typed code; drafts of the previous walk go with it.
  keepDraft({ code: null })
  show('walk')
}

function faultText(): string | null {
  const { recovery } = words.value
  const fault = searchFault.value
  if (fault === null || fault === 'lists') return null
  if (fault === 'unknown') return recovery.unknown
  if (!('fault' in fault)) return notDoneSentence(fault)
  if (fault.fault === 'count') return recovery.words(fault.words)
  return fault.fault === 'word' ? recovery.word(fault.word, fault.number) : recovery.checksum
}

export function Restore() {
  const { recovery } = words.value
  useEffect(() => {
    found.value = searchFault.value = null
    findByAddress()
    // A link may be opened while this view is shown.
    addEventListener('hashchange', findByAddress)
    return () => removeEventListener('hashchange', findByAddress)
  }, [])
  const whose = found.value
  if (asked.value !== null) return <WaitsBefore taken={asked.value} />
  return (
    <View
      title={recovery.restoreTitle}
      back
      step={whose}
      action={
        whose === null ? (
          <Button kind="primary" type="submit" form={FORM} busy={searching.value}>
            {recovery.look}
          </Button>
        ) : null
      }
    >
      {person.value === null ? null : (
        <Notice kind="warning" action={usesLine.value ? null : <CodeBehind />}>
          {recovery.replaces}
        </Notice>
      )}
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

/** Pending data of the previous walk are sent, saved or deleted before another one is taken over. */
function WaitsBefore({ taken }: { readonly taken: Profile }) {
  const { recovery, queue: sentences } = words.value
  const open = queue.value
  const { checkIns, points } = waiting.value?.waiting ?? { checkIns: 0, points: 0 }
  const sending = useSignal(false)
  const send = async () => {
    if (open === null || typeof open === 'string') return
    sending.value = true
    await sendNow(open)
    sending.value = false
    if (!anythingWaits.value) await takeOver(taken)
  }
  return (
    <View title={recovery.restoreTitle} step="waits">
      <Notice kind="warning">
        <strong class="block">{checkIns + points > 0 ? sentences.waits(checkIns, points) : null}</strong>
        {toldAndWaiting().join(' ')} {recovery.waitsBefore(person.value?.name ?? '')}
      </Notice>
      <p aria-live="polite">{sending.value ? sentences.sending : whyWaits()}</p>
      <Button kind="primary" busy={sending.value} onClick={() => void send()}>
        {sentences.send}
      </Button>
      {open === null || typeof open === 'string' || checkIns + points === 0 ? null : (
        <SaveWaiting queue={open} />
      )}
      <Button kind="danger" onClick={() => void takeOver(taken)}>
        {recovery.startClean}
      </Button>
      <Button onClick={() => (asked.value = null)}>{recovery.no}</Button>
    </View>
  )
}

/** Id of the form that the button in the bottom bar submits. */
const FORM = 'code'
const NUMBERS = Array.from({ length: 12 }, (_, i) => i)
const fieldOf = (i: number): HTMLElement | null => document.getElementById(`code-${i + 1}`)

/** A field for each word, numbered as on paper. Several pasted words fill the following fields. */
function Typing() {
  const { recovery } = words.value
  const typed = draftOf('code') ?? []
  const type = (i: number, text: string) => {
    const given = splitCode(text).map((word) => word.normalize('NFC'))
    const fields = NUMBERS.map((one) => draftOf('code')?.[one] ?? '')
    if (given.length < 2) fields[i] = text.trim()
    // A complete code starts at the first field, wherever it is pasted.
    else fields.splice(given.length < NUMBERS.length ? i : 0, given.length, ...given)
    keepDraft({ code: fields.slice(0, NUMBERS.length) })
    // A space or a Chinese character ends a word.
    if (given.length > 1 || (given.length === 1 && /[\s\p{Script=Han}]$/u.test(text)))
      fieldOf(Math.min(NUMBERS.length - 1, i + given.length))?.focus()
  }
  const fault = useRef<HTMLParagraphElement>(null)
  // The button bar may cover the message.
  const why = faultText()
  useEffect(() => {
    if (why !== null) fault.current?.scrollIntoView({ block: 'nearest' })
  }, [why])
  const filled = typed.filter((word) => word !== '')
  return (
    <form
      id={FORM}
      class="stack code"
      onSubmit={(event) => {
        event.preventDefault()
        void findByCode(filled.join(' '))
      }}
    >
      <p>{recovery.restoreWhy}</p>
      <p class="quiet">{recovery.restoreWhere}</p>
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
      <p ref={fault} class="wrong" role="alert">
        {why}
      </p>
      {searchFault.value === 'lists' ? <NotLoaded /> : null}
    </form>
  )
}

/** Set as an attribute: the property is a boolean, and `off` would turn it on. */
const uncorrected = (field: HTMLElement | null): void => field?.setAttribute('autocorrect', 'off')

/** The key selects a character of an input method. Safari reports it only by the key's code. */
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
          // An input method is still composing.
          if (!isComposing) onType(currentTarget.value)
        }}
        onCompositionEnd={({ currentTarget }) => onType(currentTarget.value)}
        // Some browsers drop the line breaks of a pasted text, which separate the words.
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? ''
          if (splitCode(pasted).length < 2) return
          event.preventDefault()
          onType(pasted)
        }}
        // Enter moves to the next word, and after the last one starts the search.
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
