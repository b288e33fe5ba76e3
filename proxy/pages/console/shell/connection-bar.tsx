import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { showToast } from '../../design/toast.tsx'
import { clock, now } from '../clock.ts'
import { secondsLeft } from '../limit.ts'
import { connection, heardAt, status } from '../live.ts'
import { level, MANAGER } from '../session.ts'
import { fill, words } from '../words.ts'

/** How long the news of the connection is shown. */
const BACK_MS = 6_000

/** A bar across the page while the connection is lost or the event is paused. */
export function ConnectionBar() {
  const said = words.value.bar
  const state = connection.value
  const wasLost = useRef(false)
  useSignalEffect(() => {
    const now = connection.value
    if (wasLost.current && (now === 'live' || now === 'polling'))
      showToast(words.peek().bar.back, { forMs: BACK_MS })
    wasLost.current = now === 'lost'
  })
  const { status: activity, message } = status.value ?? {}
  return (
    <output class="bars-across">
      <WaitBar />
      {state === 'lost' ? (
        <span class="bar-across lost">{fill(said.lost, { since: clock(heardAt.value ?? now.value) })}</span>
      ) : null}
      {state === 'polling' && level.value >= MANAGER ? <span class="bar-across">{said.polling}</span> : null}
      {activity === 'paused' ? (
        <span class="bar-across paused">
          {fill(said.pausedBar, { message: message ?? words.value.lifecycle.noMessage })}
        </span>
      ) : null}
    </output>
  )
}

/** The token's limit of calls is used up. Screen readers hear it once, and not each second. */
function WaitBar() {
  const seconds = secondsLeft.value
  const first = useRef(0)
  if (seconds === 0) first.current = 0
  else if (first.current === 0) first.current = seconds
  if (seconds === 0) return null
  const said = words.value.common.rateLimited
  return (
    <span class="bar-across waits">
      <span aria-hidden="true">{fill(said, { seconds })}</span> <span>{words.value.common.rateShared}</span>
      <span class="visually-hidden">{fill(said, { seconds: first.current })}</span>
    </span>
  )
}
