/** The signed-in console: bars, navigation, and one view. */
import { eventName, isNotStarted, isRehearsal } from '../event.ts'
import { SILENT_HOURS } from '#shared/core/rules/silence.ts'
import { figure } from '#shared/locales/units.ts'
import { signal, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentProps, ComponentType } from 'preact'
import { useContext, useEffect, useRef } from 'preact/hooks'
import { aheadMs, clock, duration, now, timeZone } from '../clock.ts'
import { type Resource, forgetAnswers, heardAt, secondsLeft } from '../resource.ts'
import { connection, incident, isCutOff, messageText, status } from '../live.ts'
import { LastHour, silenceText, useLastHour, useNewReports } from '../navigation-counts.ts'
import { Icon } from '../parts/icon.tsx'
import { useStale } from '../parts/panel.tsx'
import { type View, allowedViews, refusedView, show, view } from '../router.ts'
import { MANAGER, endSession, level, role } from '../session.ts'
import { EmergencyBar, hasEmergency } from './emergencies.tsx'
import { Palette, openPalette } from './palette.tsx'
import { LookChoices } from './sign-in.tsx'
import { countsOf } from '../views/feedback/items.ts'
import { Now } from '../views/now/now.tsx'
import { pair, words } from '../words.ts'
import { Button } from '../../design/button.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { showToast } from '../../design/toast.tsx'
import { pageData } from '../../frame/page-data.ts'
import { pageWords } from '../../frame/language.ts'

export function Shell() {
  useEffect(() => {
    timeZone.value = pageData().timeZone
  }, [])
  const shown = view.value
  useSignalEffect(() => {
    // Visible from another tab too.
    const alert = incident.value === null && !hasEmergency.value ? '' : '⚠ '
    document.title = `${alert}${words.value.nav[view.value]} · ${eventName.value}`
  })
  // Cached data from before a pause or the end may be wrong now.
  const changedAt = useComputed(() => status.value?.changed_at)
  useSignalEffect(() => {
    if (changedAt.value !== undefined) forgetAnswers()
  })
  useEffect(() => document.getElementById('view')?.scrollTo(0, 0), [shown])
  useEffect(keepFocus, [])
  const hour = useLastHour()
  return (
    <div class="console">
      <a class="skip" href="#view" onClick={focusView}>
        {words.value.bar.skip}
      </a>
      <EmergencyBar />
      <TopBar />
      <ConnectionBar />
      <LastHour.Provider value={hour}>
        <Navigation />
        <main id="view" tabIndex={-1} aria-label={words.value.nav[shown]}>
          {/* The report's own heading is printed. */}
          {shown === 'reports' ? null : <h1 class="visually-hidden">{words.value.nav[shown]}</h1>}
          <NotForTier />
          <ShownView view={shown} />
        </main>
      </LastHour.Provider>
      <Palette />
    </div>
  )
}

function NotForTier() {
  const asked = refusedView.value
  if (asked === null) return null
  const { nav, roles, bar } = words.value
  const tier = roles[role.value?.role ?? 'volunteer']
  return <output class="notice warning">{bar.notForTier(nav[asked], tier)}</output>
}

function focusView(event: Event): void {
  event.preventDefault()
  document.getElementById('view')?.focus()
}

const TONES = { active: 'good', paused: 'warning', ended: '', unknown: '' } as const

function TopBar() {
  const messages = words.value.bar
  const settings = useSignal(false)
  const state = status.value?.status ?? 'unknown'
  const link = isCutOff.value ? 'lost' : connection.value
  return (
    <header class="top-bar">
      <p class="event-name">{eventName.value}</p>
      <span class={`badge status ${isCutOff.value || isNotStarted.value ? '' : TONES[state]}`}>
        {messages.status[isNotStarted.value && state === 'active' ? 'notStarted' : state]}
      </span>
      <span class={`connection ${link === 'polling' && whyPolled() ? '' : link}`} title={whyPolled()}>
        {messages.connection[link]}
      </span>
      <span class="clock" aria-hidden="true">
        {clock(now.value)}
      </span>
      <span class="spring" />
      <button type="button" class="find" onClick={openPalette}>
        <Icon name="search" />
        <span>{words.value.common.search}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <button
        type="button"
        class="who"
        aria-label={pageWords.value.pair(role.value?.name ?? '', pageWords.value.settings)}
        onClick={() => (settings.value = true)}
      >
        <Icon name="settings" />
        <span>{role.value?.name}</span>
      </button>
      <Settings open={settings.value} onClose={() => (settings.value = false)} />
    </header>
  )
}

/** Explains why a volunteer's page is polled, which is normal. */
const whyPolled = (): string | undefined =>
  connection.value === 'polling' && level.value < MANAGER ? words.value.bar.connection.polling : undefined

/** `wang · Owner`; the name is omitted if it equals the tier. */
function whoText(): string {
  const { name = '', role: tier = 'volunteer' } = role.value ?? {}
  return name.toLowerCase() === tier ? words.value.roles[tier] : `${name} · ${words.value.roles[tier]}`
}

interface SettingsProps {
  readonly open: boolean
  readonly onClose: () => void
}

const Settings = ({ open, onClose }: SettingsProps) => (
  <Dialog
    title={pageWords.value.settings}
    open={open}
    onClose={onClose}
    closeWord={pageWords.value.close}
    actions={
      <Button onClick={() => endSession('left')}>
        <Icon name="leave" /> {words.value.bar.signOut}
      </Button>
    }
  >
    <p>{whoText()}</p>
    <LookChoices />
  </Dialog>
)

function Navigation() {
  const { nav } = words.value
  const reports = useNewReports()
  const hour = useContext(LastHour)!
  const silent = useWaiting(hour, hour.value.value?.walking?.silent, silenceText(SILENT_HOURS))
  const fresh = useWaiting(reports, countsOf(reports.value.value)?.new, nav.newReports)
  return (
    <nav class="navigation" aria-label={nav.label}>
      {allowedViews.value.map((name) => (
        <span key={name} class="view-link">
          <ViewLink to={name} current={view.value === name}>
            <Icon name={name} />
            <span>{nav[name]}</span>
            {name === 'feedback' && fresh !== null ? <b {...fresh} /> : null}
          </ViewLink>
          {name === 'people' && silent !== null ? (
            <ViewLink
              to={name}
              place={{ silentHours: SILENT_HOURS }}
              {...silent}
              class={`${silent.class} quiet`}
            />
          ) : null}
        </span>
      ))}
    </nav>
  )
}

/** A count in the navigation; null: zero. An outdated one is greyed and shows its time. */
function useWaiting<T>(from: Resource<T>, count: number | undefined, text: string) {
  const stale = useStale(from)
  if ((count ?? 0) === 0) return null
  const old = stale ? ` · ${pair(words.value.common.stale, clock(from.at.value!))}` : ''
  return {
    class: stale ? 'count old' : 'count',
    title: text + old,
    children: (
      <>
        {figure(count!)}
        <span class="visually-hidden">
          {' '}
          {text}
          {old}
        </span>
      </>
    ),
  }
}

interface ViewLinkProps extends Pick<ComponentProps<'a'>, 'class' | 'title' | 'children'> {
  readonly to: View
  readonly place?: Parameters<typeof show>[1]
  readonly current?: boolean
}

const ViewLink = ({ to, place, current = false, children, ...rest }: ViewLinkProps) => (
  <a
    {...rest}
    href={`#/${to}`}
    aria-current={current ? 'page' : undefined}
    onClick={(event) => {
      event.preventDefault()
      show(to, place)
    }}
  >
    {children}
  </a>
)

const BACK_MS = 6_000

/** From this difference the operator is warned that their device's clock is wrong. */
const WRONG_MS = 120_000

const wholeMinutes = (ms: number): number => Math.round(Math.abs(ms) / 60_000) * 60_000

function ConnectionBar() {
  const messages = words.value.bar
  const state = connection.value
  const wasLost = useRef(false)
  useSignalEffect(() => {
    const isLost = isCutOff.value
    if (wasLost.current && !isLost && connection.value !== 'opening')
      showToast(words.peek().bar.back, { forMs: BACK_MS })
    wasLost.current = isLost
  })
  const activity = status.value?.status
  return (
    <output class="bars-across">
      <WaitBar />
      {isRehearsal.value ? <span class="bar-across paused">{words.value.rehearsal.bar}</span> : null}
      {isCutOff.value ? (
        <span class="bar-across lost">{`${messages.lost} ${clock(heardAt.value ?? performance.timeOrigin)}`}</span>
      ) : null}
      {state === 'polling' && !isCutOff.value && level.value >= MANAGER ? (
        <span class="bar-across">{messages.polling}</span>
      ) : null}
      {Math.abs(aheadMs.value) > WRONG_MS ? (
        <span class="bar-across">
          {messages.clockWrong(duration(wholeMinutes(aheadMs.value)), aheadMs.value > 0)}
        </span>
      ) : null}
      {activity === 'paused' ? (
        <span class="bar-across paused">
          {pair(messages.pausedBar, messageText(status.value) ?? pageWords.value.paused)}
        </span>
      ) : null}
    </output>
  )
}

/** The token's rate limit is used up. Screen readers announce it once, not each second. */
function WaitBar() {
  const seconds = secondsLeft.value
  const first = useRef(0)
  if (seconds === 0) first.current = 0
  else if (first.current === 0) first.current = seconds
  if (seconds === 0) return null
  const message = words.value.common.rateLimited
  return (
    <span class="bar-across waits">
      <span aria-hidden="true">{message(seconds)}</span>
      <span class="visually-hidden">{message(first.current)}</span>
    </span>
  )
}

// The views. All but the first are loaded on demand.

type Later = Exclude<View, 'now'>

const LOADERS: Readonly<Record<Later, () => Promise<ComponentType>>> = {
  people: async () => (await import('../views/people/people.tsx')).People,
  reports: async () => (await import('../views/reports/reports.tsx')).Reports,
  feedback: async () => (await import('../views/feedback/feedback.tsx')).Feedback,
  messages: async () => (await import('../views/messages/messages.tsx')).Messages,
  lifecycle: async () => (await import('../views/lifecycle/lifecycle.tsx')).Lifecycle,
  system: async () => (await import('../views/system/system.tsx')).System,
}

const loaded = signal<Partial<Readonly<Record<View, ComponentType>>>>({ now: Now })
const failed = signal<View | null>(null)

async function load(view: View): Promise<void> {
  if (view === 'now' || loaded.value[view] !== undefined) return
  failed.value = null
  try {
    const component = await LOADERS[view]()
    loaded.value = { ...loaded.value, [view]: component }
  } catch {
    // There is no network, or a new release has replaced the files.
    failed.value = view
  }
}

function ShownView({ view }: { readonly view: View }) {
  useEffect(() => void load(view), [view])
  const Component = loaded.value[view]
  if (Component !== undefined) return <Component />
  if (failed.value !== view) return <p class="quiet">{words.value.common.loading}</p>
  return (
    <p>
      <button type="button" class="button" onClick={() => location.reload()}>
        {words.value.common.again}
      </button>
    </p>
  )
}

// Keeps the keyboard focus. When the focused element is removed or disabled (a row after its removal, a
// button after a click), the browser moves the focus to the page, and the operator would start at its top.
// Instead it moves to the next row of the list, else to the panel, else to the view.

/** The last focused element and its ancestors, innermost first. */
interface Place {
  readonly element: Element
  readonly around: readonly Around[]
}

interface Around {
  readonly element: Element
  readonly index: number
  /** Whether it is a list row; a removed element can no longer be asked. */
  readonly isRow: boolean
}

const indexOf = (element: Element): number => [...(element.parentElement?.children ?? [])].indexOf(element)

function placeOf(element: Element): Place {
  const around: Around[] = []
  for (let at = element.parentElement; at !== null && at.id !== 'page'; at = at.parentElement)
    around.push({ element: at, index: indexOf(at), isRow: at.matches('.rows > li') })
  return { element, around }
}

const canHaveFocus = (element: Element): boolean => element.isConnected && !element.matches(':disabled')

/** The row in place of a removed one. Not its button: a second key press would trigger it. */
function rowAfter({ around }: Place): Element | null {
  const at = around.findIndex(({ element, isRow }) => isRow && !element.isConnected)
  if (at < 0) return null
  const list = around[at + 1]?.element
  if (list === undefined || !list.isConnected) return null
  return list.children[Math.min(around[at]!.index, list.children.length - 1)] ?? null
}

function heirOf(place: Place): Element | null {
  const panel = place.around.find(({ element }) => element.isConnected && element.matches('.panel'))
  return rowAfter(place) ?? panel?.element ?? document.getElementById('view')
}

function giveFocus(element: Element | null): void {
  if (!(element instanceof HTMLElement)) return
  if (!element.hasAttribute('tabindex')) element.tabIndex = -1
  element.focus()
}

const isNowhere = (): boolean => {
  const { activeElement: active } = document
  return active === null || active === document.body || active.matches(':disabled')
}

function keepFocus(): () => void {
  let place: Place | null = null
  const onFocusIn = ({ target }: FocusEvent): void => {
    if (target instanceof Element && target.closest('#view') !== null) place = placeOf(target)
    else place = null
  }
  const look = (): void => {
    if (place === null || !isNowhere()) return
    // The operator has left it by clicking elsewhere.
    if (canHaveFocus(place.element)) place = null
    else giveFocus(heirOf(place))
  }
  // After the page has rendered a change and the browser has dropped the focus.
  let isDue = false
  const later = (): void => {
    if (place === null || isDue) return
    isDue = true
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        isDue = false
        look()
      }),
    )
  }
  const changes = new MutationObserver(later)
  document.addEventListener('focusin', onFocusIn)
  document.addEventListener('focusout', later)
  const view = document.getElementById('view')!
  changes.observe(view, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] })
  return () => {
    document.removeEventListener('focusin', onFocusIn)
    document.removeEventListener('focusout', later)
    changes.disconnect()
  }
}
