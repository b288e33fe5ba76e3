/** The first minute: a name, the consent, done. */
import { signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { WalkWords } from '#shared/locales/words.ts'
import type { PageWords } from '#shared/locales/words.ts'
import type { Language } from '#shared/contracts/bot.ts'
import { Button } from '../../design/button.tsx'
import { LanguageSwitch } from '../../frame/switches.tsx'
import { newAppId } from '../recovery/app-id.ts'
import { show } from '../route.ts'
import { draftOf, keepDraft } from '../session/drafts.ts'
import { keep } from '../session/kept.ts'
import { lineBridge, lineName, lineUserId } from '../session/line-login.ts'
import { introduce } from '../session/introduce.ts'
import { person } from '../session/person.ts'
import { client, config, refreshConfig, signInAgain, usesLine } from '../session/service.ts'
import { Again, Notice, View } from './view.tsx'
import { standalone } from './install.tsx'

interface WelcomeProps {
  readonly words: { readonly page: PageWords; readonly walk: WalkWords }
  readonly choose: (language: Language) => void
}

/** What the first page says about data that were deleted. */
const SAID = ['erased', 'erasing', 'gone'] as const

export function Welcome({ words: { page, walk }, choose }: WelcomeProps) {
  const event = config.value
  const said = SAID.find((one) => location.hash === `#${one}`) ?? null
  const languages = <LanguageSwitch words={page} onChoose={choose} />
  if (event === null)
    return (
      <View title="⛩">
        {languages}
        <Notice kind="warning" action={<Again ask={refreshConfig}>{walk.retry}</Again>}>
          {walk.welcome.firstNetwork}
        </Notice>
      </View>
    )
  return (
    <View title={<Title words={walk.welcome} event={event.name} />}>
      {languages}
      {said === null ? null : <Notice>{walk.data[said]}</Notice>}
      <Form words={walk} version={event.privacy_version} liffId={event.liff_id} />
    </View>
  )
}

const NAME = '\ufffc'

/** The sentence with the event's name, which stays whole where a line can hold it. */
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

function Form(props: {
  readonly words: WalkWords
  readonly version: string
  readonly liffId: string | null
}) {
  const { words, version, liffId } = props
  const missing = useSignal(false)
  const token = usesLine.value ? lineLogin.value : null
  if (usesLine.value && (token === null || token === 'looking'))
    return <LineLogin words={words} liffId={liffId} />
  const written = draftOf('name') ?? (token === null ? '' : (lineName(token) ?? ''))
  const agree = () => {
    const given = written.trim()
    missing.value = given === ''
    if (missing.value) return document.getElementById('name')?.focus()
    const userId = token === null ? newAppId() : lineUserId(token)!
    keepDraft({ name: null })
    keep(person, { userId, name: given, privacyVersion: version, known: false })
    // The form was read to its end; the app begins at its top.
    scrollTo(0, 0)
    void introduce(client)
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
          <p>{words.welcome.fromBrowser}</p>
          <Button onClick={() => show('restore')}>{words.recovery.restoreTitle}</Button>
        </section>
      ) : null}
      <NameField
        words={words.welcome}
        value={written}
        onName={(name) => keepDraft({ name })}
        missing={missing.value}
      />
      <Consent words={words} version={version} />
      <Button kind="primary" type="submit">
        {words.welcome.agree}
      </Button>
      {usesLine.value ? null : (
        <Button kind="plain" onClick={() => show('restore')}>
          {words.welcome.restore}
        </Button>
      )}
    </form>
  )
}

/** Token of who is logged in with LINE; `'looking'` while the SDK starts, null when nobody is or it can not start. */
const lineLogin = signal<string | null>('looking')
const lineFailed = signal(false)
/** The button was pressed. It may be pressed while the SDK still starts. */
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

function LineLogin({ words, liffId }: { readonly words: WalkWords; readonly liffId: string | null }) {
  useEffect(() => void lookAtLine(liffId, false), [liffId])
  return (
    <div class="stack">
      <p>{words.welcome.lineWhy}</p>
      {lineFailed.value ? <Notice kind="warning">{words.welcome.firstNetwork}</Notice> : null}
      <Button kind="primary" busy={lineAsked.value} onClick={() => void lookAtLine(liffId, true)}>
        {words.welcome.lineLogin}
      </Button>
    </div>
  )
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
        {missing ? words.nameMissing : words.nameHint}
      </p>
    </div>
  )
}

export const Consent = ({ words, version }: { readonly words: WalkWords; readonly version: string }) => (
  <section class="card stack-2">
    <h2>{words.welcome.consentTitle}</h2>
    <ul class="sentences">
      {words.welcome.consent.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
    <p class="quiet">{words.welcome.version(version)}</p>
  </section>
)
