/** The first minute: a name, the consent, done. */
import { useSignal } from '@preact/signals'
import type { WalkWords } from '#shared/locales/walk-words.ts'
import type { PageWords } from '#shared/locales/page-words.ts'
import type { Language } from '#shared/contracts/bot.ts'
import { Button } from '../../design/button.tsx'
import { LanguageSwitch } from '../../frame/switches.tsx'
import { newAppId } from '../recovery/app-id.ts'
import { show } from '../route.ts'
import { keep } from '../session/kept.ts'
import { lineBridge, lineName, lineUserId, logInAgain } from '../session/line-login.ts'
import { introduce } from '../session/introduce.ts'
import { person } from '../session/person.ts'
import { client, config, refreshConfig, usesLine } from '../session/service.ts'
import { Notice, View } from './view.tsx'

export interface WelcomeProps {
  readonly words: { readonly page: PageWords; readonly walk: WalkWords }
  readonly choose: (language: Language) => void
}

export function Welcome({ words: { page, walk }, choose }: WelcomeProps) {
  const event = config.value
  const languages = <LanguageSwitch words={page} onChoose={choose} />
  if (event === null)
    return (
      <View title="⛩">
        {languages}
        <Notice kind="warning" action={<Button onClick={() => void refreshConfig()}>{walk.retry}</Button>}>
          {walk.welcome.firstNetwork}
        </Notice>
      </View>
    )
  return (
    <View title={walk.welcome.title(event.name)}>
      {languages}
      <Form words={walk} version={event.privacy_version} liffId={event.liff_id} />
    </View>
  )
}

function Form(props: {
  readonly words: WalkWords
  readonly version: string
  readonly liffId: string | null
}) {
  const { words, version, liffId } = props
  const name = useSignal(person.value?.name ?? '')
  const missing = useSignal(false)
  const loggedIn = useSignal<string | null>(null)
  const busy = useSignal(false)
  if (usesLine.value && loggedIn.value === null) {
    const look = async (ask: boolean) => {
      busy.value = true
      const token = (await lineBridge(liffId))?.token() ?? null
      busy.value = false
      loggedIn.value = token
      if (token !== null) name.value ||= lineName(token) ?? ''
      else if (ask) await logInAgain(liffId)
    }
    if (!busy.value) queueMicrotask(() => void look(false))
    return (
      <div class="stack">
        <p>{words.welcome.lineWhy}</p>
        <Button kind="primary" busy={busy.value} onClick={() => void look(true)}>
          {words.welcome.lineLogin}
        </Button>
      </div>
    )
  }
  const agree = () => {
    const given = name.value.trim()
    missing.value = given === ''
    if (missing.value) return document.getElementById('name')?.focus()
    const userId = usesLine.value ? lineUserId(loggedIn.value!)! : (person.value?.userId ?? newAppId())
    keep(person, { userId, name: given, privacyVersion: version, known: false })
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
      <div class="field">
        <label for="name">{words.welcome.name}</label>
        <input
          id="name"
          type="text"
          maxLength={60}
          autocomplete="name"
          aria-describedby="name-hint"
          aria-invalid={missing.value}
          value={name.value}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
        <p
          id="name-hint"
          class={missing.value ? 'wrong' : 'quiet'}
          role={missing.value ? 'alert' : undefined}
        >
          {missing.value ? words.welcome.nameMissing : words.welcome.nameHint}
        </p>
      </div>
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
