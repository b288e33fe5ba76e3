/** The operators' console. */
import { startPage } from '../frame/start-page.tsx'
import { consoleLanguage, words } from './words.ts'
import { signal, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { chooseLanguage, language } from '../frame/language.ts'
import { followEvent } from './event.ts'
import { startLive } from './live.ts'
import { hasToken, role, signIn } from './session.ts'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'

void startPage(() => <App />)

const starting = signal(hasToken())

async function resume(): Promise<void> {
  if (hasToken()) await signIn()
  starting.value = false
}

function App() {
  useSignalEffect(() => {
    if (language.value !== consoleLanguage.value) void chooseLanguage(consoleLanguage.value)
  })
  useEffect(() => void resume(), [])
  useEffect(followEvent, [])
  useSignalEffect(() => (role.value === null ? undefined : startLive()))
  useSignalEffect(() => {
    if (role.value === null) document.title = words.value.signIn.title
  })
  if (role.value !== null) return <Shell />
  if (starting.value) return <p class="console-wait">{words.value.common.loading}</p>
  return <SignIn />
}
