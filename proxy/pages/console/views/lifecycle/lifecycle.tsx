/** Pause, resume and end the event, and what has happened so far. */
import { status } from '../../live.ts'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { EndEvent, EndProgress } from './end-event.tsx'
import { PauseAndResume } from './pause-and-resume.tsx'
import { useEffect, useRef } from 'preact/hooks'
import type { Data } from '#shared/client/index.ts'
import { duration, fullDate } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'

const STATUS_MS = 15_000

export function Lifecycle() {
  // Beside the stream, so that the view stands on an answer of its own where no stream gets through.
  const activity = useResource(client.readStatus, STATUS_MS, 'status')
  const state = status.value?.status ?? activity.value.value?.status
  return (
    <div class="view lifecycle">
      <h1 class="visually-hidden">{words.value.lifecycle.title}</h1>
      {state === 'ended' ? <EndProgress activity={activity} /> : <PauseAndResume activity={activity} />}
      {state === 'ended' ? null : <EndEvent />}
      <History />
    </div>
  )
}

type Entry = Data<'readTimeline'>['entries'][number]

const EVERY_MS = 60_000
const SHOWN = 50
/** The service keeps an answer for a second. */
const KEPT_MS = 1_200

/** What happened to the event itself, latest first. */
function History() {
  const timeline = useResource(client.readTimeline, EVERY_MS, 'timeline')
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
            .map((entry, i) => ({ entry, paused: pausedFor(entries, i) }))
            .slice(-SHOWN)
            .reverse()
            .map(({ entry, paused }) => (
              <li key={`${entry.at} ${entry.kind}`}>
                <span class="small quiet">{fullDate(entry.at)}</span>
                <strong>{words.value.lifecycle.kinds[entry.kind]}</strong>
                {paused === null ? null : <span>{`${words.value.lifecycle.pausedFor} ${paused}`}</span>}
                <span class="grow">{entry.message}</span>
                <span class="small quiet">
                  {entry.by === null ? null : `${words.value.common.by} ${entry.by}`}
                </span>
              </li>
            ))}
          {entries.length === 0 ? <li class="quiet">{words.value.common.none}</li> : null}
        </ol>
      )}
    </PanelFrom>
  )
}

/** `4 min`: how long the pause was that an entry ends; null: it ends none. */
function pausedFor(entries: readonly Entry[], i: number): string | null {
  const [began, ended] = [entries.slice(0, i).findLast(({ kind }) => kind !== 'push'), entries[i]!]
  if (ended.kind === 'push' || began?.kind !== 'paused') return null
  return duration(Date.parse(ended.at) - Date.parse(began.at))
}
