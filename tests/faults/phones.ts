/** A stream of check-ins as phones send them: a request without success is repeated. */

import { createClient, type Input } from '#shared/client/index.ts'

/** One check-in of a pilgrim, with a track point. */
export interface Sent {
  readonly userId: string
  /** Statuses of the answers, in order; 0 is no answer. */
  readonly statuses: number[]
}

export interface Phones {
  /** All that has been sent so far. */
  readonly sent: readonly Sent[]
  /** Starts no new check-in; resolves when each has been answered with 202. */
  stop(): Promise<void>
}

const CLIENTS = 8
const BETWEEN_MS = 40
const TIMEOUT_MS = 10_000

/** @param urlNow returns the current URL of tracking */
export function startPhones(name: string, urlNow: () => string, atMost: number): Phones {
  const sent: Sent[] = []
  let going = true

  const client = createClient({
    baseUrl: '',
    timeoutMs: TIMEOUT_MS,
    // A killed process closes its connections, so each request gets a new one.
    fetch: (path, init) => fetch(urlNow() + path, { ...init, keepalive: false }),
  })
  /** The status of the answer; 0 when the process was killed during the request, whose outcome is unknown. */
  const checkIn = async (given: Input<'checkIn'>): Promise<number> => {
    const answer = await client.checkIn(given)
    return answer.ok ? answer.status : answer.error.status
  }

  const phone = async () => {
    while (going && sent.length < atMost) {
      const one: Sent = { userId: `${name}-${sent.length}`, statuses: [] }
      sent.push(one)
      const timestamp = Date.now() - 60_000
      const place = { lat: 24.15, lng: 120.67 }
      const track_points = [{ ...place, timestamp: timestamp - 60_000 }]
      const given = { user_id: one.userId, ...place, timestamp, track_points }
      do {
        one.statuses.push(await checkIn(given))
        await Bun.sleep(BETWEEN_MS)
      } while (one.statuses.at(-1) !== 202)
    }
  }

  const phones = Array.from({ length: CLIENTS }, phone)
  return {
    sent,
    async stop() {
      going = false
      await Promise.all(phones)
    },
  }
}
