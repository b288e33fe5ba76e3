/** A phone with scripted answers of the service, on a clock that the test moves. */
import { afterAll } from 'bun:test'
import {
  createClient,
  createMemoryStore,
  createTrackQueue,
  type QueueState,
  type QueueStore,
  type Sent,
} from '#shared/client/index.ts'
import { simulatedClock, simulatedLocks, simulatedNetwork } from './simulated-phone.ts'

export interface Asked {
  readonly path: string
  readonly user_id: string
  readonly points: readonly { readonly lat: number; readonly timestamp: number }[]
}
type Answering = (asked: Asked) => Response | Promise<Response>

export const START = Date.parse('2026-04-12T01:00:00Z')
export const at = (i: number) => ({ lat: 24 + i / 1_000, lng: 120.67, timestamp: START + i * 1_000 })
export const stored = ({ points }: Asked): Response =>
  Response.json({
    ok: true,
    data: {
      accepted: points.length,
      duplicates: 0,
      rejected: [],
      durable_through: new Date(Math.max(...points.map(({ timestamp }) => timestamp))).toISOString(),
    },
  })
export const refused = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: `It is ${code}.`, code }, { status, headers })

export const SOON = { timeoutMs: 5_000, everyMs: 2 }

const servers: Bun.Server<undefined>[] = []
afterAll(() => Promise.all(servers.map((server) => server.stop(true))))

/** A phone whose requests get the given answers, in order. */
export function phone({
  store = createMemoryStore(),
  limits = {},
}: { store?: QueueStore; limits?: object } = {}) {
  const asked: Asked[] = []
  const service = { answer: stored as Answering }
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const text = await request.text()
      const body = JSON.parse(text) as { user_id: string; points?: Asked['points'] }
      const call = { path: new URL(request.url).pathname, points: [], ...body }
      asked.push(call)
      return service.answer(call)
    },
  })
  servers.push(server)
  const who: { userId: string | undefined; isCut: boolean } = { userId: 'me', isCut: false }
  const client = createClient({
    baseUrl: server.url,
    fetch: (url, init) => (who.isCut ? Promise.reject(new TypeError('cut')) : fetch(url, init)),
    identity: () => (who.userId === undefined ? undefined : { userId: who.userId }),
  })
  const clock = simulatedClock(START + 3_600_000)
  const network = { ...simulatedNetwork(), locks: simulatedLocks() }
  const sent: Sent[] = []
  const open = () =>
    createTrackQueue({ client, store, clock, network, limits, onSent: (call) => sent.push(call) })
  return { queue: open(), open, asked, service, client, clock, network, sent, store, who }
}

/** Numbers of pending check-ins and points. */
export const waitingOf = ({ waiting }: QueueState) => [waiting.checkIns, waiting.points]
