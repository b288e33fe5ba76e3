import { signal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { language } from '../frame/language.ts'
import { startLive } from './live.ts'
import { hasToken, role, signIn } from './session.ts'
import type { LanguageProps } from './shell/language-choice.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { consoleLanguage, words } from './words.ts'

const starting = signal(hasToken())

/** Signs in with the token of this tab, if there is one. */
async function resume(): Promise<void> {
  if (hasToken()) await signIn()
  starting.value = false
}

export function App({ onLanguage }: LanguageProps) {
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
