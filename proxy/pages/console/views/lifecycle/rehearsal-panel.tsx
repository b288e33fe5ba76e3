/** Trying the event: while a rehearsal is on, every page, card and message says that it is not the event. */
import { type EventSettings, readEvent } from '../../event.ts'
import { Ask, BusyButton, warn } from '../../parts/actions.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { showToast } from '../../../design/toast.tsx'

export const RehearsalPanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.rehearsal.title} kind="event-rehearsal" from={from}>
    {(settings) => <Rehearsal from={from} settings={settings} />}
  </PanelFrom>
)

interface RehearsalProps {
  readonly from: Resource<EventSettings>
  readonly settings: EventSettings
}

function Rehearsal({ from, settings: { version, name, rehearsal } }: RehearsalProps) {
  const said = words.value.rehearsal
  const { on } = rehearsal.value
  const names = Object.values(name.value.names)
  const change = async () => {
    const answer = await client.setRehearsal({ on: !on, version })
    if (!answer.ok) warn(answer.error, refusalOf)
    await Promise.all([from.reload(), readEvent()])
  }
  return (
    <>
      <p class="small">{on ? said.isOn : said.isOff}</p>
      {on ? (
        <p class="small">
          {said.crowd} <code>bun run demo --url {location.origin} --own-route --pilgrims 50</code>
        </p>
      ) : null}
      <div class="row">
        <BusyButton run={change}>{on ? said.end : said.begin}</BusyButton>
        {on ? (
          <Ask
            ask={said.clearAsk}
            kind="danger"
            title={said.clearTitle}
            button={said.clear}
            danger
            typed={names}
            run={() => client.resetRehearsal({ name: names[0]! })}
            onDone={() => showToast(said.clearing)}
          >
            <p>{said.clearText}</p>
          </Ask>
        ) : null}
      </div>
    </>
  )
}
