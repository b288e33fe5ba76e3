/** A stream of check-ins as phones send them: whoever gets no answer sends the same again. */

/** What one pilgrim sends, once: a check-in and a track point along with it. */
export interface Sent {
  readonly userId: string
  /** Statuses of the answers, in order; 0 where there was none. */
  readonly statuses: number[]
}

export interface Phones {
  /** All that has been sent so far. */
  readonly sent: readonly Sent[]
  /** No new check-ins; resolves when each has its 202. */
  stop(): Promise<void>
}

const CLIENTS = 8
const BETWEEN_MS = 40
const TIMEOUT_MS = 10_000

/** @param urlNow where tracking is reached at the moment */
export function startPhones(name: string, urlNow: () => string, atMost: number): Phones {
  const sent: Sent[] = []
  let going = true

  const ask = async (body: string): Promise<number> => {
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
      // The process was killed under the request: the phone does not know what became of it.
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
        one.statuses.push(await ask(body))
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
