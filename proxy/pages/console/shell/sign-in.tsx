import { eventName } from '../event.ts'
import { Button, Segments } from '../../design/button.tsx'
import { chooseLanguage, pageWords } from '../../frame/language.ts'
import { ThemeSwitch } from '../../frame/switches.tsx'
import { signedOut, signIn } from '../session.ts'
import { consoleLanguage, words } from '../words.ts'
import { useSignal } from '@preact/signals'
import type { TargetedSubmitEvent } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export const SignIn = () => (
  <main class="sign-in">
    <div class="card stack">
      <header>
        <p class="quiet small">{eventName.value}</p>
        <h1>{words.value.signIn.title}</h1>
      </header>
      <TokenForm />
      <LookChoices />
    </div>
  </main>
)

function TokenForm() {
  const messages = words.value.signIn
  const problem = useSignal<string | null>(
    { refused: messages.refused, left: messages.left, new: null }[signedOut.value],
  )
  const busy = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = field.current?.value.trim() ?? ''
    if (token === '') {
      problem.value = messages.empty
      return
    }
    busy.value = true
    problem.value = await signIn(token)
    busy.value = false
  }
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <div class="field">
        <label for="token">{messages.token}</label>
        <input
          ref={field}
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          aria-describedby="token-hint"
        />
      </div>
      <p id="token-hint" class="quiet small">
        {messages.hint}
      </p>
      <p role="alert" class="problem">
        {problem.value}
      </p>
      <Button kind="primary" type="submit" busy={busy.value}>
        {busy.value ? words.value.common.loading : messages.enter}
      </Button>
    </form>
  )
}

/** Choice of language and theme. */
export const LookChoices = () => (
  <footer class="row">
    <Segments
      label={pageWords.value.language}
      options={[
        { value: 'zh-Hant', text: '繁體中文', lang: 'zh-Hant' },
        { value: 'en', text: 'English', lang: 'en' },
      ]}
      value={consoleLanguage.value}
      onChoose={(chosen) => void chooseLanguage(chosen)}
    />
    <label class="row">
      {pageWords.value.theme}
      <ThemeSwitch />
    </label>
  </footer>
)
