/** Switches the rehearsal: while it is on, every page, card and message says so. */
import { type EventSettings, readEvent } from '../../event.ts'
import { Ask, BusyButton, warn } from '../../parts/actions.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import { reloadAll, type Resource } from '../../resource.ts'
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

/** Reads the current settings first, because a reset of a rehearsal changes them too. */
async function setRehearsal(on: boolean) {
  const settings = await client.readEventSettings()
  return settings.ok ? client.setRehearsal({ on, version: settings.data.version }) : settings
}

/** Slow enough for a token's rate limit. */
const LOOK_MS = 5_000
const CLEARED_WITHIN_MS = 120_000

/**
 * Waits until the rehearsal is cleared; the service restarts meanwhile.
 * @param before time of the previous clearing
 */
async function awaitCleared(before: string | null): Promise<void> {
  const group = 'rehearsal'
  showToast(words.peek().rehearsal.clearing, { group })
  for (let i = 0; i < CLEARED_WITHIN_MS / LOOK_MS; i++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const settings = await client.readEventSettings()
    if (!settings.ok || settings.data.rehearsal.value.cleared_at === before) continue
    showToast(words.peek().rehearsal.cleared, { group })
    return reloadAll()
  }
  showToast(words.peek().rehearsal.notCleared, { group, warning: true })
}

function Rehearsal({ from, settings: { name, rehearsal } }: RehearsalProps) {
  const messages = words.value.rehearsal
  const { on } = rehearsal.value
  const names = Object.values(name.value.names)
  const begin = async () => {
    const answer = await setRehearsal(true)
    if (!answer.ok) warn(answer.error, refusalOf)
    await Promise.all([from.reload(), readEvent()])
  }
  return (
    <>
      <p class="small">{on ? messages.isOn : messages.isOff}</p>
      {on ? (
        <p class="small">
          {messages.crowd} <code>bun run demo --url {location.origin} --own-route --pilgrims 50</code>
        </p>
      ) : null}
      <div class="row">
        {on ? (
          <>
            <Ask
              ask={messages.endAsk}
              title={messages.endTitle}
              button={messages.end}
              run={() => setRehearsal(false)}
              onDone={() => void readEvent()}
            >
              <p>{messages.endText}</p>
            </Ask>
            <Ask
              ask={messages.clearAsk}
              kind="danger"
              title={messages.clearTitle}
              button={messages.clear}
              danger
              typed={names}
              run={() => client.resetRehearsal({ name: names[0]! })}
              onDone={({ cleared_at }) => void awaitCleared(cleared_at)}
            >
              <p>{messages.clearText}</p>
            </Ask>
          </>
        ) : (
          <BusyButton run={begin}>{messages.begin}</BusyButton>
        )}
      </div>
    </>
  )
}
