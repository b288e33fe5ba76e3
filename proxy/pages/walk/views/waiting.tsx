/** Data on this device that the service does not have yet. */
import { words } from '../words.ts'
import type { TrackQueue } from '#shared/client/index.ts'
import { Button } from '../../design/button.tsx'
import { showToast } from '../../design/toast.tsx'
import { surveyWaits } from '../feedback/survey.ts'
import { reportWaits } from '../feedback/report.ts'
import { timeText } from '../format.ts'
import { gpxOf, saveFile } from '../own-data/save-file.ts'
import { sentenceOf } from '../problem.ts'
import { queue, sendNow, storeBlocked, waiting, waitingPoints } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { Notice } from './notice.tsx'

/** Fewer points are just being collected for the next request, and not shown. */
const FEW = 5
const SAID_MS = 8_000

export function Waiting() {
  const open = queue.value
  const again = <Button onClick={() => location.reload()}>{words.value.retry}</Button>
  if (open === 'failed')
    return (
      <Notice kind="danger" action={again}>
        {words.value.problems.storage}
      </Notice>
    )
  if (open === 'outdated')
    return (
      <Notice kind="warning" action={again}>
        {words.value.problems.outdated}
      </Notice>
    )
  const state = waiting.value
  if (open === null && storeBlocked.value)
    return <Notice kind="warning">{words.value.problems.blocked}</Notice>
  if (open === null || state === null) return null
  const texts = toldAndWaiting()
  return (
    <>
      <CheckInsAndPoints queue={open} state={state} />
      {texts.map((text) => (
        <p key={text} class="card">
          {text}
        </p>
      ))}
      {state.rejected === 0 ? null : <Rejected queue={open} number={state.rejected} />}
    </>
  )
}

type State = NonNullable<typeof waiting.value>

/** Contents of the queue, why they are unsent, and the time of the next attempt. */
function CheckInsAndPoints(props: { readonly queue: TrackQueue; readonly state: State }) {
  const { queue: open, state } = props
  const { checkIns, points } = state.waiting
  const hasPoints = checkIns + points > 0
  if (state.why === null && checkIns === 0 && points < FEW) return null
  return (
    <section class="card stack-2" data-waiting={checkIns + points}>
      <p aria-live="polite">
        <strong class="block">
          {hasPoints ? words.value.queue.waits(checkIns, points) : null}
          {!hasPoints && toldAndWaiting().length === 0 ? words.value.queue.nothing : null}
        </strong>{' '}
        {state.why === null ? words.value.queue.safe : sentenceOf(waitOf(state))}{' '}
        {state.why !== null && points > 0 ? words.value.queue.kmLater : null}{' '}
        {state.sending ? words.value.queue.sending : null}
        {!state.sending && state.why !== null && state.nextAttemptAt !== null
          ? words.value.queue.next(timeText(state.nextAttemptAt))
          : null}
      </p>
      {hasPoints ? (
        <>
          <div class="row">
            <Button busy={state.sending} onClick={() => void sendAndSay(open)}>
              {words.value.queue.send}
            </Button>
          </div>
          <details class="more">
            <summary>{words.value.queue.more}</summary>
            <SaveWaiting queue={open} />
          </details>
        </>
      ) : null}
    </section>
  )
}

/** Reports, answers and profile changes that have not reached the organisers. */
export const toldAndWaiting = (): readonly string[] => [
  ...(reportWaits.value ? [words.value.feedback.waits] : []),
  ...(surveyWaits.value ? [words.value.say.surveyWaits] : []),
]

/** Shows the result even if nothing has changed: a tap without a reaction looks broken. */
async function sendAndSay(open: TrackQueue): Promise<void> {
  const { queue: messages, problems } = words.value
  const state = await sendNow(open)
  if (state === null) return showToast(problems.storage, { forMs: SAID_MS, warning: true })
  const texts = toldAndWaiting().join(' ')
  if (state.why === null)
    return showToast(texts === '' ? messages.nothing : messages.notSent(texts), { forMs: SAID_MS })
  const next = state.nextAttemptAt === null ? '' : ` ${messages.next(timeText(state.nextAttemptAt))}`
  showToast(messages.notSent(sentenceOf(waitOf(state)) + next), { forMs: SAID_MS, warning: true })
}

/** Saves the pending points as a file. */
export const SaveWaiting = (props: { readonly queue: TrackQueue }) => (
  <Button
    kind="plain"
    onClick={() => void waitingPoints(props.queue).then((points) => saveFile(gpxOf(points), 'walk.gpx'))}
  >
    {words.value.queue.gpx}
  </Button>
)

function Rejected(props: { readonly queue: TrackQueue; readonly number: number }) {
  const { queue, number } = props
  const dismiss = async () => queue.dismiss(await queue.rejected())
  return (
    <Notice
      kind="warning"
      action={<Button onClick={() => void dismiss()}>{words.value.queue.rejectedDone}</Button>}
    >
      {words.value.queue.rejected(number)}
    </Notice>
  )
}

/** Why pending data are unsent; null: they are being sent, or there are none. */
export function whyWaits(): string | null {
  const state = waiting.value
  return state === null || state.why === null ? null : sentenceOf(waitOf(state))
}

const waitOf = ({ why, nextAttemptAt }: State) => ({
  code: why!,
  retryAfter: nextAttemptAt === null ? undefined : (nextAttemptAt - now()) / 1_000,
})
