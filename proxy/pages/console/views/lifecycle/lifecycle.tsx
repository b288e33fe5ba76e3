/** Pause, resume and end the event, and what has happened so far. */
import { status } from '../../live.ts'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { EndEvent } from './end-event.tsx'
import { EndProgress } from './end-progress.tsx'
import { History } from './history.tsx'
import { PauseAndResume } from './pause-and-resume.tsx'

const STATUS_MS = 15_000

export function Lifecycle() {
  // Beside the stream, so that the view stands on an answer of its own where no stream gets through.
  const activity = useResource((signal) => client.readStatus({}, { signal }), STATUS_MS, 'status')
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
