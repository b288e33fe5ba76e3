import { useComputed, useSignalEffect } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pageData } from '../../frame/page-data.ts'
import { timeZone } from '../clock.ts'
import { incident, status } from '../live.ts'
import { forgetAnswers } from '../resource.ts'
import { refusedView, view } from '../router.ts'
import { role } from '../session.ts'
import { fill, words } from '../words.ts'
import { keepFocus } from './keep-focus.ts'
import { ConnectionBar } from './connection-bar.tsx'
import type { LanguageProps } from './language-choice.tsx'
import { Navigation } from './navigation.tsx'
import { Palette } from './palette.tsx'
import { TopBar } from './top-bar.tsx'
import { ShownView } from './shown-view.tsx'

/** The signed-in console: bars, navigation, and one view. */
export function Shell({ onLanguage }: LanguageProps) {
  useEffect(() => {
    timeZone.value = pageData().timeZone
  }, [])
  const shown = view.value
  useSignalEffect(() => {
    // Seen from another tab, too.
    const alert = incident.value === null ? '' : '⚠ '
    document.title = `${alert}${words.value.nav[view.value]} · ${pageData().name}`
  })
  // What was read before a pause or the end may not be right any more.
  const changedAt = useComputed(() => status.value?.changed_at)
  useSignalEffect(() => {
    if (changedAt.value !== undefined) forgetAnswers()
  })
  useEffect(() => document.getElementById('view')?.scrollTo(0, 0), [shown])
  useEffect(keepFocus, [])
  return (
    <div class="console">
      <a class="skip" href="#view" onClick={focusView}>
        {words.value.bar.skip}
      </a>
      <TopBar onLanguage={onLanguage} />
      <ConnectionBar />
      <Navigation />
      <main id="view" tabIndex={-1} aria-label={words.value.nav[shown]}>
        <NotForTier />
        <ShownView view={shown} />
      </main>
      <Palette onLanguage={onLanguage} />
    </div>
  )
}

/** An address of a view that the token does not open: why another one is shown. */
function NotForTier() {
  const asked = refusedView.value
  if (asked === null) return null
  const { nav, roles, bar } = words.value
  const tier = roles[role.value?.role ?? 'volunteer']
  return (
    <output class="notice warning">
      {fill(bar.notForTier, { view: nav[asked], tier, shown: nav[view.value] })}
    </output>
  )
}

function focusView(event: Event): void {
  event.preventDefault()
  document.getElementById('view')?.focus()
}
