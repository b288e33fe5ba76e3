import { useSignal } from '@preact/signals'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { pageData } from '../../frame/page-data.ts'
import { ThemeSwitch } from '../../frame/switches.tsx'
import { clock, now } from '../clock.ts'
import { connection, status } from '../live.ts'
import { show } from '../router.ts'
import { endSession, level, MANAGER, role } from '../session.ts'
import { words } from '../words.ts'
import { Icon } from './icons.tsx'
import { LanguageChoice, type LanguageProps } from './language-choice.tsx'
import { openPalette } from './palette.tsx'

const TONES = { active: 'good', paused: 'warning', ended: '', unknown: '' } as const

export function TopBar({ onLanguage }: LanguageProps) {
  const said = words.value.bar
  const settings = useSignal(false)
  const state = status.value?.status ?? 'unknown'
  return (
    <header class="top-bar">
      <p class="event-name">{pageData().name}</p>
      {level.value >= MANAGER ? (
        <button
          type="button"
          class={`badge status ${TONES[state]}`}
          title={words.value.lifecycle.pauseAndResume}
          onClick={() => show('lifecycle')}
        >
          {said.status[state]}
        </button>
      ) : (
        <span class={`badge status ${TONES[state]}`}>{said.status[state]}</span>
      )}
      <span class={`connection ${whyPolled() === undefined ? connection.value : ''}`} title={whyPolled()}>
        {said.connection[connection.value]}
      </span>
      <span class="clock" aria-hidden="true">
        {clock(now.value)}
      </span>
      <span class="spring" />
      <button type="button" class="find" onClick={openPalette}>
        <Icon name="search" />
        <span>{said.palette}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <button
        type="button"
        class="who"
        aria-label={`${role.value?.name}: ${words.value.page.settings}`}
        onClick={() => (settings.value = true)}
      >
        <Icon name="settings" />
        <span>{role.value?.name}</span>
      </button>
      <Settings open={settings.value} onClose={() => (settings.value = false)} onLanguage={onLanguage} />
    </header>
  )
}

/** A volunteer's page is never live, and nothing is wrong with it. */
const whyPolled = (): string | undefined =>
  connection.value === 'polling' && level.value < MANAGER ? words.value.bar.pollingVolunteer : undefined

/** `wang · Owner`; a token that is named after its tier is not named twice. */
function whoText(): string {
  const { name = '', role: tier = 'volunteer' } = role.value ?? {}
  return name.toLowerCase() === tier ? words.value.roles[tier] : `${name} · ${words.value.roles[tier]}`
}

interface SettingsProps extends LanguageProps {
  readonly open: boolean
  readonly onClose: () => void
}

const Settings = ({ open, onClose, onLanguage }: SettingsProps) => (
  <Dialog
    title={words.value.page.settings}
    open={open}
    onClose={onClose}
    closeWord={words.value.page.close}
    actions={
      <Button onClick={() => endSession('left')}>
        <Icon name="leave" /> {words.value.bar.signOut}
      </Button>
    }
  >
    <p>{whoText()}</p>
    <p class="small quiet">{words.value.tiers[role.value?.role ?? 'volunteer']}</p>
    {whyPolled() === undefined ? null : <p class="small quiet">{whyPolled()}</p>}
    <LanguageChoice onLanguage={onLanguage} />
    <ThemeSwitch words={words.value.page} />
  </Dialog>
)
