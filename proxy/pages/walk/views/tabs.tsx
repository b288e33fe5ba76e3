/** The bar at the bottom, within reach of a thumb: the four tabs or the way back, and the SOS. */
import { words } from '../words.ts'
import { computed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { lastFix, positionFault, recordsHere } from '../recording/recorder.ts'
import { goBack, TAB_OF, view } from '../route.ts'
import { SosButton } from './sos.tsx'

const TABS = ['walk', 'way', 'say', 'me'] as const
/** Shown on all tabs while recording. Before the first position nothing is recorded. */
const isRecording = computed(
  () => recordsHere.value && positionFault.value === null && lastFix.value !== null,
)

type Tab = (typeof TABS)[number]

const DRAWINGS: Readonly<Record<Tab, string>> = {
  walk: 'M12 2a7 7 0 0 1 7 7c0 5-7 13-7 13S5 14 5 9a7 7 0 0 1 7-7zm0 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  way: 'M4 20a2 2 0 1 0 4 0a2 2 0 1 0-4 0M8 20h6c6 0 6-7 0-7h-4c-6 0-6-7 0-7h6M16 6a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  say: 'M3 4h18v12H11l-5 5v-5H3z',
  me: 'M12 3a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM3 21c1-6 5-7 9-7s8 1 9 7z',
}

/** Renders nothing in a view behind a tab, which has only the back button. */
export const Tabs = () =>
  TAB_OF[view.value] === view.value ? (
    <nav class="tabs">
      {TABS.map((tab) => (
        <a key={tab} href={`#${tab}`} aria-current={view.value === tab ? 'page' : undefined}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d={DRAWINGS[tab]} />
          </svg>
          {words.value.tabs[tab]}
          {tab === 'walk' ? <Recording /> : null}
        </a>
      ))}
      <SosButton />
    </nav>
  ) : null

/** A button back, in place of the tabs, where the thumb is. @param children the view's own button */
export const BackBar = ({ children }: { readonly children?: ComponentChildren }) => (
  <nav class="tabs">
    <button type="button" onClick={goBack}>
      ‹ {words.value.back}
      <Recording />
    </button>
    {children}
    <SosButton />
  </nav>
)

const Recording = () =>
  isRecording.value ? (
    <span class="tab-dot">
      <span class="visually-hidden">{words.value.record.darkOn}</span>
    </span>
  ) : null
