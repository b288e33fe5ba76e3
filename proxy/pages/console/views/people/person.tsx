/**
 * Everything about one pilgrim. Each reading is in the audit log, so it is read once, after each action, and when asked
 * for.
 */
import { useSignal } from '@preact/signals'
import { Button, Segments } from '../../../design/button.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import { reloadAll, useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { PersonAbout } from './person-about.tsx'
import { PersonActions } from './person-actions.tsx'
import { PersonFigures } from './person-figures.tsx'
import { PersonMessages } from './person-messages.tsx'
import { PersonPoints } from './person-points.tsx'

const TABS = ['figures', 'points', 'messages', 'about'] as const
type Tab = (typeof TABS)[number]

export function Person({ userId, onBack }: { readonly userId: string; readonly onBack: () => void }) {
  const detail = useResource((signal) => client.readUser({ userId }, { signal }), 0, `user ${userId}`)
  const tab = useSignal<Tab>('figures')
  const onlyOut = useSignal(false)
  const said = words.value.people
  const showLeftOut = () => {
    onlyOut.value = true
    tab.value = 'points'
  }
  const name = detail.value.value?.display_name ?? userId
  return (
    <PanelFrom
      title={name}
      kind="person"
      from={detail}
      actions={
        <>
          <Button kind="plain" onClick={() => void reloadAll()}>
            {words.value.common.refresh}
          </Button>
          <Button kind="plain" onClick={onBack}>
            {said.back}
          </Button>
        </>
      }
    >
      {(person) => (
        <>
          <Segments
            label={name}
            options={TABS.map((value) => ({ value, text: said.tabs[value] }))}
            value={tab.value}
            onChoose={(chosen) => (tab.value = chosen)}
          />
          {tab.value === 'figures' ? <PersonFigures person={person} onLeftOut={showLeftOut} /> : null}
          {tab.value === 'points' ? <PersonPoints userId={userId} onlyOut={onlyOut} /> : null}
          {tab.value === 'messages' ? <PersonMessages userId={userId} /> : null}
          {tab.value === 'about' ? <PersonAbout person={person} /> : null}
          <PersonActions person={person} onErased={onBack} />
          <p class="small quiet">{said.audited}</p>
        </>
      )}
    </PanelFrom>
  )
}
