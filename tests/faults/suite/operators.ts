/** Actions of operators and of LINE during a fault: messages, a pause and its end, photos to the bot. */
import { deliver, lineEvent } from '#tests/helpers/line-webhook.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { admin } from '#tests/helpers/test-stack.ts'
import type { Random } from '#tests/helpers/random.ts'
import { type TestSystem, VOLUNTEERS } from './test-system.ts'
import { type RecordedRequests, json, send } from './recorded-requests.ts'

const BETWEEN_MS = 500
const PAUSE_MS = 600
/** Each replica reads the status once a second. */
const KNOWN_MS = 1_500

export interface Operators {
  /** Resolves when all actions have ended, or after the timeout. */
  finish(timeoutMs: number): Promise<void>
}

/** Assigns the role of a volunteer to the recipients of messages about pauses. */
export async function assignVolunteers(system: TestSystem): Promise<void> {
  for (const user_id of VOLUNTEERS) {
    await system.stack.fetch('/api/event/user/sync', json({ user_id }))
    const init = json({ user_id, role: 'volunteer' }, admin('owner'))
    const response = await system.stack.fetch('/api/event/admin/roles', init)
    if (!response.ok) throw new Error(`no role is assigned: ${await response.text()}`)
  }
}

/** @param forMs duration of the fault's run; the pause begins at a random moment of it */
export function startOperators(
  system: TestSystem,
  recorded: RecordedRequests,
  random: Random,
  forMs: number,
): Operators {
  let endsAt = Infinity
  const hasTime = () => performance.now() < endsAt
  const { fetch } = system.stack
  let person = Number.parseInt(recorded.name.slice(1), 10) * 1_000

  /** Sends a message request once. Without an answer it is not repeated, so the message may be sent or not. */
  const push = async (n: number) => {
    const text = `message ${n} of ${recorded.name};`
    const recipients = Array.from({ length: 4 }, () => lineUser(0x10_0000 + ++person))
    const reply = await send(
      fetch,
      recorded,
      '/api/event/push',
      json({ user_ids: recipients, text }, admin('manager')),
    )
    recorded.messages.push({ text, recipients, certain: reply.status === 200 })
  }

  /** LINE repeats a delivery until it is answered with success, and sometimes once more. */
  const photo = async () => {
    const sender = lineUser(0x20_0000 + ++person)
    const event = lineEvent(sender, { type: 'message', message: { type: 'image', id: '1' } })
    const repeats = random() < 0.5 ? 2 : 1
    let accepted = 0
    while (accepted < repeats && hasTime()) {
      const status = await deliver(system.stack, [event]).then(
        (answer) => answer.status,
        () => 0,
      )
      if (status === 200) accepted++
      else await Bun.sleep(BETWEEN_MS)
    }
    if (accepted > 0) recorded.photos.set(sender, 1)
  }

  const setStatus = async (status: string, message: string): Promise<boolean> => {
    const init = { ...json({ status, message }, admin('manager')), method: 'PUT' }
    while (hasTime()) {
      if ((await send(fetch, recorded, '/api/event/admin/status', init)).status === 200) return true
      await Bun.sleep(BETWEEN_MS)
    }
    recorded.complain('an operator could not change the status', status)
    return false
  }

  const pauseAndResume = async () => {
    const text = `pause of ${recorded.name};`
    const certain = await setStatus('paused', text)
    recorded.messages.push({ text, recipients: VOLUNTEERS, certain })
    // A replica that loses the kv at the moment of a pause may accept check-ins for this long.
    await Bun.sleep(KNOWN_MS)
    if (certain) recorded.paused = {}
    await Bun.sleep(PAUSE_MS)
    recorded.paused = null
    await setStatus('active', '')
  }

  const work = async () => {
    await Promise.all([push(1), photo()])
    await Bun.sleep(forMs * (0.2 + random() * 0.4))
    await Promise.all([push(2), photo(), pauseAndResume()])
    await Promise.all([push(3), photo()])
  }
  const working = work()
  return {
    async finish(timeoutMs) {
      endsAt = performance.now() + timeoutMs
      await working
    },
  }
}
