/** Followers' messages to the bot, delivered as by LINE: several people's events in one signed request. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, isTemporary } from '#shared/client/request-backoff.ts'
import { type Client, createClient, type Fetch } from '#shared/client/index.ts'
import type { Deed } from './acts.ts'
import { lineEvent, signatureOf } from '#tests/helpers/line-webhook.ts'
import { add, type Tally } from './tally.ts'

type LineDeed = Extract<Deed, { kind: 'line' }>
type Counter = 'followers' | 'photos' | 'others'

interface Waiting {
  readonly event: Record<string, unknown>
  readonly counter: Counter
}

export interface LineDeliveries {
  /** A person follows the bot, writes to it, or sends a photo. */
  add(userId: string, deed: LineDeed): void
  /** Resolves when nothing is pending. */
  done(): Promise<void>
}

export interface LineDeliveriesOptions {
  readonly baseUrl: string
  readonly fetch: Fetch
  /** Null: LINE is not used. */
  readonly secret: string | null
  readonly tally: Tally
  readonly signal: AbortSignal
}

/** Maximum number of events per delivery. */
const EVENTS = 20

export function createLineDeliveries(options: LineDeliveriesOptions): LineDeliveries {
  const { baseUrl, fetch, secret, tally, signal } = options
  const client = createClient({ baseUrl, fetch })
  const waiting: Waiting[] = []
  let working: Promise<void> | null = null

  async function work(): Promise<void> {
    while (waiting.length > 0 && !signal.aborted) {
      const some = waiting.splice(0, EVENTS)
      if (await deliver(client, secret!, some, tally, signal))
        for (const { counter } of some) tally[counter]++
    }
    working = null
  }

  return {
    add(userId, deed) {
      if (secret === null) return
      // The real clock like LINE, not the simulated one: the bot only responds to recent messages.
      waiting.push({ event: lineEvent(userId, fieldsOf(deed)), counter: counterOf(deed) })
      working ??= work()
    },
    done: async () => working ?? undefined,
  }
}

/**
 * Delivers events repeatedly until the service accepts them. A repeated event keeps its id, so it counts
 * once.
 */
async function deliver(
  client: Client,
  secret: string,
  waiting: readonly Waiting[],
  tally: Tally,
  signal: AbortSignal,
): Promise<boolean> {
  const delivery = { destination: 'demo', events: waiting.map(({ event }) => event) }
  const headers = { 'x-line-signature': signatureOf(JSON.stringify(delivery), secret) }
  for (let failures = 0; !signal.aborted; failures++) {
    const answer = await client.receiveWebhook(delivery, { headers, signal })
    if (answer.ok) return true
    if (!isTemporary(answer.error)) {
      add(tally.refused, answer.error.code)
      return false
    }
    add(tally.retried, answer.error.code)
    await sleep(backoffMs(failures, answer.error.retryAfter, 0), undefined, { signal }).catch(() => undefined)
  }
  return false
}

const counterOf = ({ event }: LineDeed): Counter =>
  event === 'photo' ? 'photos' : event === 'follow' ? 'followers' : 'others'

function fieldsOf(deed: LineDeed): object {
  const id = randomUUID()
  if ('text' in deed) return { type: 'message', message: { type: 'text', id, text: deed.text } }
  return deed.event === 'follow'
    ? { type: 'follow' }
    : { type: 'message', message: { type: 'image', id, contentProvider: { type: 'line' } } }
}
