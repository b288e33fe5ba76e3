import { figure } from '#shared/locales/units.ts'
import { effect, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { Data, Input } from '#shared/client/index.ts'
import type { Language } from '#shared/contracts/bot.ts'
import { Button } from '../../../design/button.tsx'
import { showToast } from '../../../design/toast.tsx'
import { clock, date } from '../../clock.ts'
import { event } from '../../event.ts'
import { messageText, status } from '../../live.ts'
import { Confirm, useSave, warn } from '../../parts/actions.tsx'
import { Field } from '../../parts/fields.tsx'
import { absenceOf, PanelFrom, refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { ownName, pair, words } from '../../words.ts'
import { leftOutText, useLineConfigured, useRecipients } from '../messages/left-out-people.tsx'
import { draft } from '../messages/compose.tsx'
import { pageWords } from '../../../frame/language.ts'
import { pageData } from '../../../frame/page-data.ts'
import { withoutEmpty } from './without-empty.ts'

type Activity = Data<'readStatus'>
const MAX_MESSAGE = 500
const TOAST_MS = 10_000

/** Reads the state after a change, to show the service's answer rather than the request. */
async function readBack(): Promise<void> {
  const answer = await client.readStatus()
  if (!answer.ok) return
  const { status: state, changed_at, changed_by } = answer.data
  const { status: names } = words.value.bar
  showToast([names[state], messageText(answer.data) ?? clock(changed_at), changed_by ?? '–'].join(' · '), {
    forMs: TOAST_MS,
  })
}

export const PauseAndResume = ({ activity }: { readonly activity: Resource<Activity> }) => (
  <PanelFrom title={words.value.lifecycle.pauseAndResume} kind="pause" from={activity}>
    {(read) => <Controls current={status.value ?? read} />}
  </PanelFrom>
)

type Current = Pick<Activity, 'status' | 'message' | 'messages' | 'changed_at' | 'changed_by'>

/** The message by language. */
type Texts = Readonly<Record<Language, string>>

const ownLanguage = (): Language => event.value?.language ?? pageData().language

const textsOf = ({ message, messages }: Pick<Current, 'message' | 'messages'>): Texts =>
  messages ?? (message === null ? {} : { [ownLanguage()]: message })

type Next = 'paused' | 'active'

function Controls({ current }: { readonly current: Current }) {
  const messages = words.value.lifecycle
  // Null: the message is not being edited.
  const typed = useSignal<Texts | null>(null)
  /** The message when editing began. */
  const begun = useSignal<Input<'setStatus'>['seen']>({})
  const asked = useSignal<Next | null>(null)
  const paused = current.status === 'paused'
  const shown = textsOf(current)
  const texts = typed.value ?? (paused ? shown : {})
  const send = (next: Next, seen: Input<'setStatus'>['seen'] = { status: current.status }) =>
    client.setStatus(
      next === 'paused'
        ? { status: next, message: texts[ownLanguage()] ?? '', messages: withoutEmpty(texts), seen }
        : { status: next, seen },
    )
  const clear = () => {
    typed.value = null
  }
  const edit = () => {
    begun.value = seenOf(current)
    typed.value = shown
  }
  const update = async (): Promise<boolean> => {
    const answer = await send('paused', begun.value)
    if (!answer.ok) warn(answer.error, refusalOf)
    // After a conflict the operator sees the other message, and may replace it.
    if (answer.ok || answer.error.status === 409) await readBack()
    begun.value = seenOf(answer.ok ? answer.data : (status.value ?? current))
    return answer.ok
  }
  const form = useSave(typed, update, clear)
  // The change took effect although its response was lost, or another operator made it: close the
  // confirmation.
  useEffect(() => {
    if (asked.peek() !== current.status) return
    asked.value = null
    typed.value = null
    void readBack()
  }, [asked, typed, current.status])
  const fields = <Message texts={texts} onType={(written) => (typed.value = written)} />
  const written = Object.values(shown)
  return (
    <div class="stack">
      <State current={current} />
      {paused && typed.value === null ? <Quoted texts={written} /> : null}
      {paused && typed.value !== null ? fields : null}
      <div class="row">
        {paused && typed.value !== null ? (
          <>
            <Button busy={form.busy} onClick={() => void form.submit()}>
              {words.value.common.save}
            </Button>
            <Button onClick={clear}>{pageWords.value.cancel}</Button>
          </>
        ) : (
          <>
            <Button kind="primary" onClick={() => (asked.value = paused ? 'active' : 'paused')}>
              {paused ? messages.resumeAsk : messages.pauseAsk}
            </Button>
            {paused ? <Button onClick={edit}>{messages.update}</Button> : null}
          </>
        )}
        {paused ? <WriteToAll label={messages.writeToAll} message={written.join('\n\n')} /> : null}
        {isResumed(current) ? <WriteToAll label={messages.writeToAll} message={messages.goesOn} /> : null}
      </div>
      <Question
        asked={asked.value}
        fields={fields}
        isWithout={Object.keys(withoutEmpty(texts)).length === 0}
        run={send}
        onClose={() => (asked.value = null)}
        clear={clear}
        onDone={() => void readBack()}
      />
    </div>
  )
}

const seenOf = ({ message, messages }: Current): Input<'setStatus'>['seen'] => ({
  status: 'paused',
  message,
  messages: messages ?? null,
})

/** What pilgrims read: the message in each of its languages, or the pages' default sentence. */
const Quoted = ({ texts }: { readonly texts: readonly string[] }) => (
  <>
    {(texts.length === 0 ? [pageWords.value.paused] : texts).map((text) => (
      <blockquote key={text}>{text}</blockquote>
    ))}
  </>
)

interface MessageProps {
  readonly texts: Texts
  readonly onType: (texts: Texts) => void
}

/** A field for each language that the event offers, the default one first. */
function Message({ texts, onType }: MessageProps) {
  const own = ownLanguage()
  const languages = [...new Set([own, ...(event.value?.languages ?? [])])]
  return (
    <>
      {languages.map((of) => (
        <Field
          key={of}
          long
          name={of === own ? 'message' : `message-${of}`}
          label={
            of === own
              ? pageWords.value.aside(words.value.lifecycle.message, ownName(of))
              : pageWords.value.aside(ownName(of), words.value.schedule.optional)
          }
          maxLength={MAX_MESSAGE}
          value={texts[of] ?? ''}
          onType={(text) => onType({ ...texts, [of]: text })}
        />
      ))}
    </>
  )
}

interface QuestionProps {
  /** The requested change. It stays the same, whatever happens to the event meanwhile. */
  readonly asked: Next | null
  readonly fields: ComponentChildren
  /** There is no message: pages show their default sentence. */
  readonly isWithout: boolean
  readonly run: (next: Next) => ReturnType<typeof client.setStatus>
  readonly onClose: () => void
  readonly clear: () => void
  readonly onDone: () => void
}

function Question({ asked, fields, isWithout, run, ...rest }: QuestionProps) {
  const messages = words.value.lifecycle
  const resumes = asked === 'active'
  return (
    <Confirm
      title={resumes ? messages.resumeTitle : messages.pauseTitle}
      open={asked !== null}
      button={resumes ? messages.resume : messages.pause}
      run={() => run(resumes ? 'active' : 'paused')}
      {...rest}
    >
      <p>{resumes ? messages.resumeText : messages.pauseText}</p>
      {asked === 'paused' ? (
        <>
          {fields}
          {isWithout ? <Quoted texts={[]} /> : null}
          <WhoIsTold />
        </>
      ) : null}
    </Confirm>
  )
}

/** Text of a pause that was copied into a message. */
let taken: string | null = null

// Prevents a text written for the pause from being sent after it by mistake, whoever ends the pause and
// whichever view is open.
effect(() => {
  const state = status.value?.status
  if (taken === null || state === undefined || state === 'paused') return
  if (draft.peek().text === taken) draft.value = { ...draft.peek(), text: '' }
  taken = null
})

/** Starts a message to everyone with the text that pilgrims read. Another unsent message is kept. */
function WriteToAll({ label, message }: { readonly label: string; readonly message: string }) {
  const { text } = draft.value
  if (message === '' || (text.trim() !== '' && text !== message)) return null
  const write = () => {
    draft.value = { ...draft.value, audience: 'all', text: message }
    taken = message
    show('messages', { panel: 'compose' })
  }
  return <Button onClick={write}>{label}</Button>
}

/** Resuming sends no LINE message by itself. */
const isResumed = ({ status: state, changed_by }: Current): boolean =>
  state === 'active' && changed_by !== null

const State = ({ current }: { readonly current: Current }) => (
  <p class="state-line">
    <strong>{words.value.bar.status[current.status]}</strong>{' '}
    {/* Before the first change, its time is that of the database. */}
    {current.changed_by === null ? null : (
      <span class="quiet">
        {words.value.lifecycle.since} {date(current.changed_at)} {words.value.common.by} {current.changed_by}
      </span>
    )}
  </p>
)

type Counted = Data<'sendPush'>

function WhoIsTold() {
  const count = useRecipients('volunteers')
  const isConfigured = useLineConfigured()
  const value = count.value.value
  const lines = value === null ? [absenceOf(count)] : volunteersOf(value, isConfigured)
  return (
    <ul class="steps">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  )
}

function volunteersOf({ recipients, devices, left_out }: Counted, isConfigured: boolean): readonly string[] {
  const messages = words.value.lifecycle
  const byPush = devices === 0 ? [] : [pair(words.value.messages.devices, figure(devices))]
  if (!isConfigured) return [`${messages.pauseNobody} ${words.value.now.notConfigured}`, ...byPush]
  if (recipients > 0) return [pair(messages.pauseVolunteers, figure(recipients)), ...byPush]
  return [`${messages.pauseNobody} ${leftOutText(left_out)}`, ...byPush]
}
