import { useEffect, useRef } from 'preact/hooks'
import { fullDate } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { status } from '../../live.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'

const EVERY_MS = 60_000
const SHOWN = 50
/** The service keeps an answer for a second. */
const KEPT_MS = 1_200

/** What happened to the event itself, latest first. */
export function History() {
  const timeline = useResource((signal) => client.readTimeline({}, { signal }), EVERY_MS, 'timeline')
  const changedAt = status.value?.changed_at
  const { reload } = timeline
  const before = useRef(changedAt)
  useEffect(() => {
    if (before.current === changedAt) return undefined
    before.current = changedAt
    const timer = setTimeout(() => void reload(), KEPT_MS)
    return () => clearTimeout(timer)
  }, [changedAt, reload])
  return (
    <PanelFrom title={words.value.lifecycle.history} kind="history" from={timeline}>
      {({ entries }) => (
        <ol class="rows">
          {entries
            .slice(-SHOWN)
            .reverse()
            .map((entry) => (
              <li key={`${entry.at} ${entry.kind}`}>
                <span class="small quiet">{fullDate(entry.at)}</span>
                <strong>{words.value.lifecycle.kinds[entry.kind]}</strong>
                <span class="grow">{entry.message}</span>
                <span class="small quiet">
                  {entry.by === null ? null : fill(words.value.common.by, { name: entry.by })}
                </span>
              </li>
            ))}
          {entries.length === 0 ? <li class="quiet">{words.value.lifecycle.noHistory}</li> : null}
        </ol>
      )}
    </PanelFrom>
  )
}
