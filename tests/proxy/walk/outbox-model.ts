/**
 * Walks made of anything that may happen to the app, in any order: the state machine of the app over the real queue and
 * its IndexedDB store, two windows, and a service that answers anything. No entry is lost, doubled or sent for somebody
 * else, and no state is without a way out.
 */
import { expect } from 'bun:test'
import 'fake-indexeddb/auto'
import fc from 'fast-check'
import {
  type AddedKind,
  type Answer,
  createClient,
  createTrackQueue,
  type Entry,
  type QueueStore,
  type TrackQueue,
} from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import {
  after,
  cadenceOf,
  type Events,
  EXITS,
  INITIAL,
  modeOf,
  type Person,
  type State,
  whyHeld,
} from '#proxy/pages/walk/state.ts'
import { simulatedClock, simulatedLocks, simulatedNetwork } from '#tests/client/simulated-phone.ts'

/** What the service does with a request; `lost`: it acts on it, and its answer does not arrive. */
const ANSWERS = ['taken', 'lost', 'cut', 'paused', 'unauthorized', 'limited', 'busy', 'sign-in-page'] as const
type Answering = (typeof ANSWERS)[number]
const REFUSALS: Partial<Record<Answering, readonly [status: number, code: string]>> = {
  paused: [403, 'paused'],
  unauthorized: [401, 'unauthorized'],
  limited: [429, 'rate-limited'],
  busy: [503, 'unavailable'],
}

class Walk {
  readonly clock = simulatedClock()
  readonly locks = simulatedLocks()
  state: State = INITIAL
  answers: Answering[] = []
  /** What was pressed on this phone and must arrive, as `pilgrim kind key`. */
  readonly expected = new Set<string>()
  readonly confirmed = new Set<string>()
  readonly doubled: string[] = []
  /** What the service was told, and for whom. */
  readonly arrived: string[] = []
  queues: TrackQueue[] = []
  pressed = 0
  readonly store: QueueStore

  constructor(store: QueueStore) {
    this.store = store
    this.queues = [this.open(), this.open()]
  }

  get pilgrim(): string | undefined {
    return this.state.person?.userId
  }

  change<E extends keyof Events>(event: E, given: Events[E]): void {
    this.state = after(this.state, event, given)
    for (const queue of this.queues) queue.awaken()
  }

  answer(keys: readonly string[]): Answering {
    const answer = this.answers.shift() ?? 'taken'
    // Sent again after its answer has come.
    for (const key of keys) if (this.confirmed.has(key)) this.doubled.push(key)
    if (answer === 'taken' || answer === 'lost') for (const key of keys) this.arrived.push(key)
    if (answer === 'taken') for (const key of keys) this.confirmed.add(key)
    return answer
  }

  open(): TrackQueue {
    const client = createClient({
      baseUrl: 'https://walk.example',
      identity: () => (this.pilgrim === undefined ? undefined : { userId: this.pilgrim }),
      fetch: async (url, { body }) => this.respond(url, body as string),
    })
    const send = async ({ userId, kind, fields }: Entry): Promise<Answer<unknown>> => {
      const { keys } = fields as { keys: Readonly<Record<string, true>> }
      const answer = this.answer(Object.keys(keys).map((key) => `${userId} ${kind} ${key}`))
      const [status, code] = REFUSALS[answer] ?? [0, answer === 'sign-in-page' ? 'unexpected' : 'network']
      return answer === 'taken'
        ? { ok: true, status: 200, data: null, headers: new Headers() }
        : { ok: false, error: { status, code, message: code } as never }
    }
    const kind = (more: Partial<AddedKind> = {}): AddedKind => ({ send, ...more })
    return createTrackQueue({
      client,
      store: this.store,
      clock: this.clock,
      network: { ...simulatedNetwork(), locks: this.locks },
      added: { person: kind({ ordered: true }), report: kind({ last: true }), survey: kind({ last: true }) },
      limits: { collectMs: () => cadenceOf(modeOf(this.state), false, false).collectMs },
      holds: (name) => {
        const code = whyHeld(this.state, name === 'checkin' || name === 'track' || name === 'later')
        return code === null ? null : { code, status: 0, message: code }
      },
    })
  }

  respond(url: string, body: string): Response {
    const {
      user_id: userId,
      points,
      timestamp,
    } = JSON.parse(body) as {
      user_id: string
      points?: { timestamp: number }[]
      timestamp?: number
    }
    const kind = url.endsWith('checkin') ? 'checkin' : 'track'
    const times = points?.map((point) => point.timestamp) ?? [timestamp!]
    const answer = this.answer(times.map((t) => `${userId} ${kind} ${t}`))
    if (answer === 'lost' || answer === 'cut') throw new TypeError('cut')
    if (answer === 'sign-in-page') return new Response('<p>Sign in</p>')
    const refusal = REFUSALS[answer]
    if (refusal !== undefined)
      return Response.json({ error: refusal[1], code: refusal[1] }, { status: refusal[0] })
    const data =
      kind === 'checkin'
        ? {}
        : {
            accepted: times.length,
            duplicates: 0,
            rejected: [],
            durable_through: new Date(Math.max(...times)),
          }
    return Response.json({ ok: true, data })
  }

  /** Keeps what the pilgrim did, by one of the windows. */
  async press(kind: 'checkin' | 'track' | 'person' | 'report' | 'survey', window: number): Promise<void> {
    const queue = this.queues[window]!
    const { pilgrim } = this
    if (pilgrim === undefined) return
    const t = this.clock.now() - 1_000_000 + ++this.pressed
    const point = { lat: 24, lng: 120, timestamp: t }
    const kept =
      kind === 'checkin'
        ? await queue.checkIn(point)
        : kind === 'track'
          ? await queue.record(point)
          : await queue.keep(kind, { keys: { [t]: true } })
    expect(kept).toEqual({ ok: true })
    this.expected.add(`${pilgrim} ${kind} ${t}`)
  }

  /** What the app does with a reading of the event's configuration and of the profile. */
  read(): void {
    if (this.state.signedOut) this.change('signedIn', null)
  }

  /** Another walk: what waits is sent first, or deleted. */
  async take(person: Person, sends: boolean): Promise<void> {
    const { pilgrim } = this
    if (pilgrim === person.userId) return
    if (pilgrim !== undefined) {
      if (sends) {
        await this.queues[0]!.resume()
        await this.queues[0]!.send()
      }
      const left = await this.waiting()
      if (sends && left.length > 0) return
      await this.store.clear(pilgrim)
      for (const key of left) this.expected.delete(key)
    }
    this.change('taken', { person, agreed: true })
  }

  async waiting(): Promise<string[]> {
    const { pilgrim } = this
    if (pilgrim === undefined) return []
    const kinds = ['checkin', 'track', 'later', 'person', 'report', 'survey']
    const all = await Promise.all(kinds.map((kind) => this.store.oldest(pilgrim, kind, 10_000)))
    return all
      .flat()
      .flatMap(({ kind, t, fields }) =>
        (kind === 'checkin' || kind === 'track' || kind === 'later'
          ? [t]
          : Object.keys((fields as { keys: object }).keys)
        ).map((key) => `${pilgrim} ${kind} ${key}`),
      )
  }

  /** At the end all is well: nothing may be left, lost, doubled or foreign. */
  async end(): Promise<void> {
    this.answers = []
    // A way out of each state, as the app's lists name them.
    expect(EXITS[modeOf(this.state)].length).toBeGreaterThan(0)
    this.change('notErased', null)
    this.change('signedIn', null)
    this.change('agreed', '1')
    this.change('event', 'active')
    for (let round = 0; round < 10 && (await this.waiting()).length > 0; round++) {
      this.clock.move(600_000)
      await this.queues[round % 2]!.resume()
      await this.queues[round % 2]!.send()
    }
    expect(await this.waiting()).toEqual([])
    expect(this.doubled).toEqual([])
    const arrived = new Set(this.arrived)
    expect([...this.expected].filter((key) => !arrived.has(key))).toEqual([])
    // The owner is part of each key, so what went out for somebody else was pressed by nobody.
    expect(this.arrived.filter((key) => !this.everPressed.has(key))).toEqual([])
  }

  /** All that was pressed, also what was deleted by choice. */
  readonly everPressed = new Set<string>()
}

const ANN: Person = { userId: 'ann', name: 'Ann', privacyVersion: '1', known: true }
const BEN: Person = { userId: 'ben', name: 'Ben', privacyVersion: '1', known: true }

type Model = object
const command = (name: string, run: (walk: Walk) => unknown): fc.AsyncCommand<Model, Walk> => ({
  check: () => true,
  async run(_, walk) {
    await run(walk)
    for (const key of walk.expected) walk.everPressed.add(key)
    const { state } = walk
    const isSent = walk.arrived.filter((key) => !walk.everPressed.has(key))
    expect(isSent).toEqual([])
    expect(EXITS[modeOf(state)].length).toBeGreaterThan(0)
  },
  toString: () => name,
})
const aWindow = fc.nat(1)
const COMMANDS = [
  fc
    .tuple(fc.constantFrom('checkin', 'track', 'track', 'person', 'report', 'survey'), aWindow)
    .map(([kind, n]) => command(`${kind} in ${n}`, (walk) => walk.press(kind, n))),
  fc
    .array(fc.constantFrom(...ANSWERS), { minLength: 1, maxLength: 4 })
    .map((answers) => command(`answers ${answers.join()}`, (walk) => walk.answers.push(...answers))),
  aWindow.map((n) => command(`send ${n}`, (walk) => walk.queues[n]!.send())),
  aWindow.map((n) => command(`reload ${n}`, (walk) => (walk.queues[n] = walk.open()))),
  fc.constantFrom(1_000, 60_000, 900_000).map((ms) => command(`${ms} ms`, (walk) => walk.clock.move(ms))),
  fc
    .constantFrom('active', 'paused', 'ended')
    .map((status) => command(`event ${status}`, (walk) => walk.change('event', status))),
  fc
    .constantFrom(
      'withdrew',
      'consentTakenBack',
      'consentFound',
      'erased',
      'notErased',
      'signedOut',
      'signedIn',
    )
    .map((event) => command(event, (walk) => walk.change(event as 'erased', null))),
  fc.constant(command('read', (walk) => walk.read())),
  fc
    .tuple(fc.constantFrom(ANN, BEN), fc.boolean())
    .map(([person, sends]) =>
      command(`take ${person.userId}, ${sends ? 'sent' : 'clean'}`, (walk) => walk.take(person, sends)),
    ),
]

let opened = 0

/** Runs so many walks. @throws what is wrong, with the shortest walk that shows it */
export const walks = (numRuns: number, seed?: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 40 }), async (commands) => {
      const walk = new Walk(await openIndexedDbStore(`model-${++opened}`))
      walk.change('opened', null)
      walk.change('begun', ANN)
      await fc.asyncModelRun(() => ({ model: {}, real: walk }), commands)
      await walk.end()
      await walk.store.close()
    }),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  )
