/** The operators' console. */
import { startPage } from '../frame/start-page.tsx'
import { setWords, WORD_FILES, consoleLanguage, words } from './words.ts'
import { signal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { language } from '../frame/language.ts'
import { startLive } from './live.ts'
import { hasToken, role, signIn } from './session.ts'
import type { LanguageProps } from './shell/language-choice.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'

void startPage(WORD_FILES, ({ words, choose }) => {
  setWords(words)
  return <App onLanguage={choose} />
})

const starting = signal(hasToken())

/** Signs in with the token of this tab, if there is one. */
async function resume(): Promise<void> {
  if (hasToken()) await signIn()
  starting.value = false
}

function App({ onLanguage }: LanguageProps) {
  useSignalEffect(() => {
    if (language.value !== consoleLanguage.value) onLanguage(consoleLanguage.value)
  })
  useEffect(() => void resume(), [])
  useSignalEffect(() => (role.value === null ? undefined : startLive()))
  useSignalEffect(() => {
    if (role.value === null) document.title = words.value.signIn.title
  })
  if (role.value !== null) return <Shell onLanguage={onLanguage} />
  if (starting.value) return <p class="console-wait">{words.value.signIn.trying}</p>
  return <SignIn onLanguage={onLanguage} />
}
