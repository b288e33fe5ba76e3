/** A stream of check-ins as phones send them: a request without success is repeated. */

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

  const request = async (body: string): Promise<number> => {
    try {
      const answer = await fetch(`${urlNow()}/api/event/checkin`, {
        method: 'POST',
        body,
        keepalive: false,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.arrayBuffer()
      return answer.status
    } catch {
      // The process was killed during the request; its outcome is unknown.
      return 0
    }
  }

  const phone = async () => {
    while (going && sent.length < atMost) {
      const one: Sent = { userId: `${name}-${sent.length}`, statuses: [] }
      sent.push(one)
      const timestamp = Date.now() - 60_000
      const place = { lat: 24.15, lng: 120.67 }
      const track_points = [{ ...place, timestamp: timestamp - 60_000 }]
      const body = JSON.stringify({ user_id: one.userId, ...place, timestamp, track_points })
      do {
        one.statuses.push(await request(body))
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
