/** The registration: a name and the consent. */
import { language, pageWords } from '../../frame/language.ts'
import { words } from '../words.ts'
import { signal, useSignal } from '@preact/signals'
import { useCallback, useEffect } from 'preact/hooks'
import type { ClientError } from '#shared/client/index.ts'
import type { WalkWords } from '#shared/locales/words.ts'
import { Button } from '../../design/button.tsx'
import { LanguageSwitch, LettersSwitch } from '../../frame/switches.tsx'
import { isShownOnCard } from '#shared/core/rules/card-name.ts'
import { newAppId } from '../recovery/app-id.ts'
import { show } from '../route.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { lineBridge, lineName, lineUserId } from '../session/line-login.ts'
import { change } from '../session/current-state.ts'
import { isNoticeKnown, noticeText, noticeVersion, readNotice } from '../session/notice.ts'
import { dateText } from '../format.ts'
import { introduce } from '../outbox.ts'
import { client, config, refreshConfig, signInAgain, usesLine } from '../session/service.ts'
import { takeOver } from './restore.tsx'
import { Again, NotDone, Notice } from './notice.tsx'
import { View } from './view.tsx'
import { standalone } from './install.tsx'

/** Messages of the first page about deleted data. */
const OUTCOMES = ['erased', 'erasing', 'gone'] as const

export function Welcome() {
  const event = config.value
  const outcome = OUTCOMES.find((each) => location.hash === `#${each}`) ?? null
  const display = (
    <div class="stack-2">
      <LanguageSwitch />
      <LettersSwitch />
    </div>
  )
  if (event === null)
    return (
      <View title={document.title}>
        {display}
        <Notice kind="warning" action={<Again ask={refreshConfig}>{words.value.retry}</Again>}>
          {words.value.welcome.firstNetwork}
        </Notice>
      </View>
    )
  const name = event.names?.[language.value] ?? event.name
  // The event no longer accepts registrations, but a walk can still be moved to this phone.
  if (event.status === 'ended')
    return (
      <View title={name}>
        {display}
        {outcome === null ? null : <Notice>{words.value.data[outcome]}</Notice>}
        <a class="button" href="/">
          {pageWords.value.map}
        </a>
        {usesLine.value ? (
          <LineWalk liffId={event.liff_id} />
        ) : (
          <Button kind="plain" onClick={() => show('restore')}>
            {words.value.welcome.restore}
          </Button>
        )}
      </View>
    )
  return (
    <View title={<Title words={words.value.welcome} event={name} />}>
      {display}
      {outcome === null ? null : <Notice>{words.value.data[outcome]}</Notice>}
      <Form version={noticeVersion.value} liffId={event.liff_id} />
    </View>
  )
}

const NAME = '\ufffc'

/** The heading with the event's name, which is not broken if it fits on a line. */
function Title({ words, event }: { readonly words: WalkWords['welcome']; readonly event: string }) {
  const [before, after] = words.title(NAME).split(NAME)
  return (
    <>
      {before}
      <span class="whole-name">{event}</span>
      {after}
    </>
  )
}

function Form(props: { readonly version: string; readonly liffId: string | null }) {
  const { version, liffId } = props
  const missing = useSignal(false)
  const token = usesLine.value ? lineLogin.value : null
  if (usesLine.value && (token === null || token === 'looking')) return <LineLogin liffId={liffId} />
  const written = draftOf('name') ?? (token === null ? '' : (lineName(token) ?? ''))
  const agree = () => {
    const given = written.trim()
    missing.value = given === ''
    if (missing.value) return document.getElementById('name')?.focus()
    const userId = token === null ? newAppId() : lineUserId(token)!
    keepDraft({ name: null })
    change('begun', { userId, name: given, privacyVersion: version, known: false })
    // The form was scrolled to its end; the app begins at the top.
    scrollTo(0, 0)
    void introduce()
  }
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        agree()
      }}
    >
      {standalone === true && !usesLine.value ? (
        <section class="card stack-2">
          <p>{words.value.welcome.fromBrowser}</p>
          <Button onClick={() => show('restore')}>{words.value.recovery.restoreTitle}</Button>
        </section>
      ) : null}
      <NameField
        words={words.value.welcome}
        value={written}
        onName={(name) => {
          keepDraft({ name })
          missing.value = false
        }}
        missing={missing.value}
      />
      <Consent version={version} />
      <Button kind="primary" type="submit" disabled={!isNoticeKnown.value}>
        {words.value.welcome.agree}
      </Button>
      {usesLine.value ? null : (
        <Button kind="plain" onClick={() => show('restore')}>
          {words.value.welcome.restore}
        </Button>
      )}
    </form>
  )
}

/**
 * Token of the logged-in LINE account; `'looking'` while the SDK starts, null if logged out or the SDK cannot
 * start.
 */
const lineLogin = signal<string | null>('looking')
const lineFailed = signal(false)
/** The button was pressed, possibly while the SDK was still starting. */
const lineAsked = signal(false)

async function lookAtLine(liffId: string | null, ask: boolean): Promise<void> {
  if (ask) lineAsked.value = true
  lineLogin.value = 'looking'
  const line = await lineBridge(liffId)
  lineFailed.value = line === null
  lineLogin.value = line?.token() ?? null
  if (!ask) return
  if (lineLogin.value === null && !(await signInAgain())) lineFailed.value = true
  lineAsked.value = false
}

function LineLogin({ liffId }: { readonly liffId: string | null }) {
  useEffect(() => void lookAtLine(liffId, false), [liffId])
  return (
    <div class="stack">
      <p>{words.value.welcome.lineWhy}</p>
      {lineFailed.value ? <Notice kind="warning">{words.value.welcome.firstNetwork}</Notice> : null}
      <Button kind="primary" busy={lineAsked.value} onClick={() => void lookAtLine(liffId, true)}>
        {words.value.welcome.lineLogin}
      </Button>
    </div>
  )
}

/** After the end the log-in opens the walk of the LINE account, if it has one. */
function LineWalk({ liffId }: { readonly liffId: string | null }) {
  const token = lineLogin.value
  const userId = token === null || token === 'looking' ? null : lineUserId(token)
  const error = useSignal<ClientError | null>(null)
  const find = useCallback(async () => {
    if (userId === null) return
    const answer = await client.readProfile({ userId })
    // The service also knows a LINE account that never walked; it has no name.
    if (answer.ok && answer.data.display_name !== null) await takeOver(answer.data)
    else error.value = answer.ok ? { code: 'not-found', status: 404, message: '' } : answer.error
  }, [userId, error])
  useEffect(() => void find(), [find])
  if (userId === null) return <LineLogin liffId={liffId} />
  return <NotDone error={error.value} action={<Again ask={find}>{words.value.retry}</Again>} />
}

function NameField(props: {
  readonly words: WalkWords['welcome']
  readonly value: string
  readonly onName: (name: string) => void
  readonly missing: boolean
}) {
  const { words, value, onName, missing } = props
  return (
    <div class="field">
      <label for="name">{words.name}</label>
      <input
        id="name"
        type="text"
        maxLength={60}
        autocomplete="name"
        aria-describedby="name-hint"
        aria-invalid={missing}
        value={value}
        onInput={({ currentTarget }) => onName(currentTarget.value)}
      />
      <p id="name-hint" class={missing ? 'wrong' : 'quiet'} role={missing ? 'alert' : undefined}>
        {missing ? words.nameMissing : isShownOnCard(value) ? words.nameHint : words.nameNotOnCard}
      </p>
    </div>
  )
}

export const Sentences = ({ of }: { readonly of: readonly string[] }) => (
  <ul class="sentences">
    {of.map((sentence) => (
      <li key={sentence}>{sentence}</li>
    ))}
  </ul>
)

/**
 * What the public map can show about the pilgrim. A configuration stored by an older release lacks `crowd`;
 * then no minimum crowd is promised.
 */
export const publicMapSentence = (): string => {
  const { crowds, single } = words.value.publicMap
  return (config.value?.crowd ?? 1) > 1 ? crowds : single
}

/** The last sentence is what the pilgrim can do at any time. */
function consentSentences(): string[] {
  const { consent } = words.value.welcome
  return [...consent.slice(0, -1), publicMapSentence(), ...consent.slice(-1)]
}

/** Whom to contact, and how long the data are stored. */
function organiserSentences(): string[] {
  const { organiser, contact, kept } = words.value.welcome
  const { organiser: name = null, contact: at = null, kept_until: until = null } = config.value?.notice ?? {}
  return [
    kept(until === null ? null : dateText(Date.parse(until))),
    ...(name === null ? [] : [organiser(name)]),
    ...(at === null ? [] : [contact(at)]),
  ]
}

export function Consent({ version }: { readonly version: string }) {
  const messages = words.value.welcome
  useEffect(() => void readNotice(), [version])
  return (
    <section class="card stack-2">
      <h2>{messages.consentTitle}</h2>
      <Sentences of={consentSentences()} />
      <Sentences of={organiserSentences()} />
      {isNoticeKnown.value ? (
        noticeText.value === null ? null : (
          <details class="own-notice">
            <summary>{messages.ownNotice}</summary>
            <p>{noticeText.value}</p>
          </details>
        )
      ) : (
        <Notice kind="warning" action={<Again ask={readNotice}>{words.value.retry}</Again>}>
          {messages.noticeMissing}
        </Notice>
      )}
      <p class="quiet">{messages.version(version)}</p>
    </section>
  )
}
