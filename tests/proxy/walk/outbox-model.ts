/**
 * Random sequences of everything that can happen to the app, in any order: its state machine with the real
 * queue, one to three windows that send at the same time, and a stateful service that fails in every way.
 *
 * Finally the service recovers, the app reads as it does by itself, and the pilgrim does what the screen
 * offers. Then no entry is lost, duplicated or sent for another pilgrim, the service has the consent chosen
 * last, and every state has a way out.
 */
import { expect } from 'bun:test'
import 'fake-indexeddb/auto'
import fc from 'fast-check'
import {
  type Answer,
  createClient,
  createMemoryStore,
  createTrackQueue,
  type Entry,
  type QueueStore,
  type TrackQueue,
} from '#shared/client/index.ts'
import { openIndexedDbStore } from '#shared/client/queue/indexed-db-store.ts'
import { ENTRY_KINDS, type EntryKind } from '#proxy/pages/walk/entry-kinds.ts'
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

/**
 * Fate of a request besides the service's own response. `lost`: the service handles it, and its response is
 * lost.
 */
const FAULTS = ['lost', 'cut', 'limited', 'busy', 'broken', 'sign-in-page'] as const
type Fault = (typeof FAULTS)[number]
type Refusal = readonly [status: number, code: string]
const FAILURES: Readonly<Record<Fault, Refusal>> = {
  lost: [0, 'network'],
  cut: [0, 'network'],
  limited: [429, 'rate-limited'],
  busy: [503, 'unavailable'],
  broken: [500, 'internal'],
  'sign-in-page': [200, 'unexpected'],
}

/** An entry as `pilgrim kind key`. */
type Key = string
const POINTS = ['checkin', 'track'] as const
const isPoint = (kind: string): boolean => kind === 'checkin' || kind === 'track' || kind === 'later'

class Service {
  event: 'active' | 'paused' | 'ended' = 'active'
  /** Whether it accepts the phone's ID token. */
  knowsToken = true
  readonly erased = new Set<string>()
  /** Consent of each pilgrim known to the service. */
  readonly consents = new Map<string, boolean>()
  faults: Fault[] = []
  /** Entries that arrived, and those whose response reached the phone. */
  readonly arrived = new Set<Key>()
  readonly confirmed = new Set<Key>()
  /** Entries that were sent again after their response had arrived. */
  readonly doubled: Key[] = []

  /** @returns why the service rejects entries of the kind; null: it accepts them */
  refusal(userId: string, kind: string): Refusal | null {
    if (this.erased.has(userId)) return [410, 'erased']
    if (!this.knowsToken) return [401, 'unauthorized']
    if (!isPoint(kind)) return null
    if (this.consents.get(userId) !== true) return [403, 'forbidden']
    return this.event === 'active' ? null : [403, this.event]
  }

  /**
   * Accepts entries with their keys, unless the service rejects or fails.
   * @returns why the phone gets no success; null: it does
   */
  take(userId: string, kind: string, keys: readonly Key[], act: () => void): Refusal | null {
    for (const key of keys) if (this.confirmed.has(key)) this.doubled.push(key)
    const fault = this.faults.shift()
    if (fault !== undefined && fault !== 'lost') return FAILURES[fault]
    const refused = this.refusal(userId, kind)
    if (refused === null) {
      act()
      for (const key of keys) this.arrived.add(key)
    }
    if (fault !== undefined) return FAILURES[fault]
    if (refused === null) for (const key of keys) this.confirmed.add(key)
    return refused
  }
}

interface Fields {
  readonly key?: string
  readonly agreed?: boolean
  readonly isWrong?: true
}

class Walk {
  readonly clock = simulatedClock()
  readonly locks = simulatedLocks()
  readonly service = new Service()
  state: State = { ...INITIAL, opening: false }
  /**
   * All pressed entries; of these, those that must arrive, and those that the service rejects permanently.
   */
  readonly pressed = new Set<Key>()
  readonly expected = new Set<Key>()
  readonly wrong = new Set<Key>()
  /** The consent chosen last; null: on another phone. */
  chosen: boolean | null = null
  /** The consent in the last profile read. */
  #consentRead = false
  /** Entries of the pilgrim being stored. */
  #beingKept = 0
  #presses = 0
  #begun = 0
  readonly store: QueueStore
  readonly windows: TrackQueue[] = []
  /** Work that runs in parallel to the commands. */
  readonly underWay: Promise<unknown>[] = []

  constructor(store: QueueStore, windows: number) {
    this.store = store
    for (let n = 0; n < windows; n++) this.windows.push(this.#open())
  }

  /** One of the windows. */
  queue(n: number): TrackQueue {
    return this.windows[n % this.windows.length]!
  }

  get pilgrim(): string | undefined {
    return this.state.person?.userId
  }

  change<E extends keyof Events>(event: E, given: Events[E]): void {
    this.state = after(this.state, event, given)
    for (const queue of this.windows) queue.awaken()
  }

  reload(window: number): void {
    this.windows[window % this.windows.length] = this.#open()
  }

  #open(): TrackQueue {
    const client = createClient({
      baseUrl: 'https://walk.example',
      identity: () => (this.pilgrim === undefined ? undefined : { userId: this.pilgrim }),
      fetch: async (_, { body }) => this.#takePoints(body as string),
    })
    const queue = createTrackQueue({
      client,
      store: this.store,
      clock: this.clock,
      network: { ...simulatedNetwork(), locks: this.locks },
      added: Object.fromEntries(
        Object.entries(ENTRY_KINDS).map(([name, rules]) => [
          name,
          {
            ...rules,
            send: async (entry: Entry) => this.#takeEntry(entry),
            onSettled: () => (name === 'person' ? this.#later(this.#personSettled()) : undefined),
          },
        ]),
      ),
      limits: { collectMs: () => cadenceOf(modeOf(this.state), false, false).collectMs },
      holds: (kind) => {
        const code = whyHeld(this.state, isPoint(kind))
        return code === null ? null : { code, status: 0, message: code }
      },
    })
    let noted: string | null = null
    queue.subscribe(({ why }) => {
      if (why !== null && why !== noted) this.#noteError(why)
      noted = why
    })
    return queue
  }

  #later(work: Promise<unknown>): void {
    this.underWay.push(work)
  }

  /** Like `noteError` of the app. */
  #noteError(code: string): void {
    if (code === 'unauthorized') this.change('signedOut', null)
    if (code === 'erased' && this.pilgrim !== undefined && this.service.erased.has(this.pilgrim))
      this.change('erased', null)
    const isNews =
      code === 'forbidden'
        ? !this.state.withdrawn
        : (code === 'paused' || code === 'ended') && this.state.event !== code
    if (isNews) this.#later(this.read(code === 'forbidden'))
  }

  async #personSettled(): Promise<void> {
    const { pilgrim } = this
    if (pilgrim === undefined) return
    if ((await this.store.oldest(pilgrim, 'person', 1)).length > 0 || this.#beingKept > 0) return
    this.change('known', pilgrim)
    await this.read()
    for (const queue of this.windows) await queue.resume()
  }

  #takeEntry({ userId, kind, fields }: Entry): Answer<unknown> {
    const { key: _, agreed, isWrong, ...keys } = fields as Fields
    const sent = isWrong === true ? [] : Object.keys(keys).map((key) => `${userId} ${kind} ${key}`)
    const refusal = this.service.take(userId, kind, sent, () => {
      if (agreed !== undefined) this.service.consents.set(userId, agreed)
    })
    if (refusal === null && isWrong !== true)
      return { ok: true, status: 200, data: null, headers: new Headers() }
    const [status, code] = refusal ?? [400, 'invalid-request']
    return { ok: false, error: { status, code, message: code } as never }
  }

  #takePoints(body: string): Response {
    const given = JSON.parse(body) as { user_id: string; points?: Point[] } & Point
    const points = given.points ?? [given]
    const kind = given.points === undefined ? 'checkin' : 'track'
    const keyOf = ({ timestamp }: Point): Key => `${given.user_id} ${kind} ${timestamp}`
    const isWrong = ({ mode }: Point) => mode === WRONG
    const right = points.filter((point) => !isWrong(point))
    const refusal = this.service.take(given.user_id, kind, right.map(keyOf), () => undefined)
    if (refusal?.[0] === 0) throw new TypeError('cut')
    if (refusal?.[0] === 200) return new Response('<p>Sign in</p>')
    if (refusal !== null)
      return Response.json({ error: refusal[1], code: refusal[1] }, { status: refusal[0] })
    if (kind === 'checkin' && right.length === 0)
      return Response.json({ error: 'wrong', code: 'invalid-request' }, { status: 400 })
    const rejected = [...points.entries()].filter(([, point]) => isWrong(point))
    const data = {
      accepted: right.length,
      duplicates: 0,
      rejected: rejected.map(([index]) => ({ index, reason: 'invalid-field' })),
      durable_through: new Date(Math.max(0, ...points.map(({ timestamp }) => timestamp))),
    }
    return Response.json({ ok: true, data: kind === 'checkin' ? {} : data })
  }

  /** Stores an action of the pilgrim in one of the windows. */
  async press(kind: 'checkin' | 'track' | EntryKind, window: number, isWrong = false): Promise<void> {
    const [queue, { pilgrim }] = [this.queue(window), this]
    if (pilgrim === undefined) return
    const t = this.clock.now() - 1_000_000 + ++this.#presses
    const key = `${pilgrim} ${kind} ${t}`
    this.pressed.add(key)
    ;(isWrong ? this.wrong : this.expected).add(key)
    const point = { lat: 24, lng: 120, timestamp: t, ...(isWrong ? { mode: WRONG } : {}) }
    const kept =
      kind === 'checkin'
        ? await queue.checkIn(point)
        : kind === 'track'
          ? await queue.record(point)
          : await queue.keep(kind, { [t]: true, ...(isWrong ? { key: `${t}`, isWrong } : {}) })
    expect(kept).toEqual({ ok: true })
  }

  /** Gives or withdraws the consent on this phone, like `setConsent` of the app. */
  async consent(agreed: boolean): Promise<void> {
    if (this.pilgrim === undefined) return
    if (agreed) this.change('agreed', '1')
    else this.change('withdrew', null)
    this.chosen = agreed
    this.#beingKept++
    await this.queue(0).keep('person', { key: `${++this.#presses}`, agreed })
    this.#beingKept--
  }

  /** Registers the pilgrim if the service does not know them, like `introduce` of the app. */
  async #introduce(): Promise<void> {
    const { person, withdrawn } = this.state
    if (person === null || person.known) return
    if ((await this.store.oldest(person.userId, 'person', 1)).length > 0) return
    await this.queue(0).keep('person', person.privacyVersion === '' ? {} : { agreed: !withdrawn })
  }

  /** The app reads the configuration and the profile, and acts on them. */
  async read(isRefused = false): Promise<void> {
    const { service } = this
    if (service.faults.shift() !== undefined) return
    if (this.state.signedOut) this.change('signedIn', null)
    this.change('event', service.event)
    await this.#heal()
    const { person } = this.state
    if (person === null) return
    if (service.erased.has(person.userId)) return this.change('erased', null)
    if (!service.knowsToken) return this.change('signedOut', null)
    const agrees = service.consents.get(person.userId)
    if (agrees === undefined) {
      if (person.known) this.change('unknown', person.userId)
    } else {
      this.change('notErased', null)
      if (person.known && agrees) this.change('consentFound', null)
      else if (person.known && (this.#consentRead || isRefused)) this.change('consentTakenBack', null)
      this.#consentRead = agrees
    }
    await this.#introduce()
  }

  /** Like `heal` of the app, after each successful response. */
  async #heal(): Promise<void> {
    for (const queue of this.windows) {
      await queue.reconnected()
      if (queue.state.stopped && whyHeld(this.state, true) === null) await queue.resume()
    }
  }

  /** Takes over another walk: pending entries are sent first, or deleted. */
  async take(userId: string, sends: boolean): Promise<void> {
    const { pilgrim } = this
    if (pilgrim === userId || this.service.erased.has(userId)) return
    // The app finds the walk before it gives up the current one.
    const agreed = this.service.consents.get(userId)
    if (agreed === undefined) return
    if (pilgrim !== undefined) {
      if (sends) {
        await this.queue(0).resume()
        await this.queue(0).send()
      }
      if (sends && (await this.waiting()).length > 0) return
      await this.forget(pilgrim)
    }
    this.#consentRead = agreed
    this.chosen = null
    const person: Person = { userId, name: userId, privacyVersion: agreed ? '1' : '', known: true }
    this.change('taken', { person, agreed })
  }

  /** Deletes a pilgrim's pending entries on request. */
  async forget(pilgrim: string): Promise<void> {
    await this.store.clear(pilgrim)
    for (const keys of [this.expected, this.wrong])
      for (const key of keys)
        if (key.startsWith(`${pilgrim} `) && !this.service.arrived.has(key)) keys.delete(key)
  }

  /** Starts a new pilgrim's walk. */
  async begin(): Promise<void> {
    const { pilgrim } = this
    if (pilgrim !== undefined) await this.forget(pilgrim)
    this.state = { ...INITIAL, opening: false, event: this.state.event }
    this.#consentRead = false
    this.chosen = null
    const userId = `pilgrim-${++this.#begun}`
    this.change('begun', { userId, name: userId, privacyVersion: '1', known: false })
    await this.#introduce()
  }

  async waiting(): Promise<Entry[]> {
    const { pilgrim } = this
    if (pilgrim === undefined) return []
    const kinds = [...POINTS, 'later', ...Object.keys(ENTRY_KINDS)]
    return (await Promise.all(kinds.map((kind) => this.store.oldest(pilgrim, kind, 10_000)))).flat()
  }

  async settle(): Promise<void> {
    while (this.underWay.length > 0) await Promise.all(this.underWay.splice(0))
  }

  /** What the screen of each mode offers to the pilgrim; the other modes end by themselves. */
  async #act(): Promise<void> {
    const mode = modeOf(this.state)
    expect(EXITS[mode].length).toBeGreaterThan(0)
    if (mode === 'restoring') this.change('restoring', false)
    else if (mode === 'no-walk') await this.begin()
    else if (mode === 'erased') {
      // The service knows the pilgrim, or would have reported it; it must not be told about an erased
      // person.
      expect(this.service.consents.has(this.pilgrim!) && !this.service.erased.has(this.pilgrim!)).toBe(false)
      await this.begin()
    } else if (mode === 'asking-consent' || mode === 'refused') await this.consent(true)
  }

  /**
   * From now on all is well. Nothing may be pending, lost or duplicated, and the app must return to walking.
   */
  async end(): Promise<void> {
    const { service } = this
    await this.settle()
    service.faults = []
    service.event = 'active'
    service.knowsToken = true
    const isWell = async () =>
      ['walking', 'recording', 'resting'].includes(modeOf(this.state)) && (await this.waiting()).length === 0
    for (let round = 0; round < 2 || (round < 12 && !(await isWell())); round++) {
      this.clock.move(600_000)
      await this.read()
      await this.queue(round).send()
      await this.settle()
      // The pilgrim acts once nothing happens automatically any more.
      if (round > 2) await this.#act()
    }
    expect(modeOf(this.state)).toBeOneOf(['walking', 'recording', 'resting'])
    expect(await this.waiting()).toEqual([])
    expect(service.doubled).toEqual([])
    expect([...this.expected].filter((key) => !service.arrived.has(key))).toEqual([])
    const aside = await this.store.rejected(this.pilgrim!)
    const asideKeys = aside.flatMap(({ userId, kind, t, fields }) =>
      isPoint(kind)
        ? [`${userId} ${kind} ${t}`]
        : Object.keys(fields).map((key) => `${userId} ${kind} ${key}`),
    )
    expect(
      [...this.wrong].filter((key) => key.startsWith(`${this.pilgrim!} `) && !asideKeys.includes(key)),
    ).toEqual([])
    if (this.chosen !== null) expect(service.consents.get(this.pilgrim!)).toBe(this.chosen)
    this.expectNothingForeign()
  }

  /** Keys contain the pilgrim, so anything sent for someone else was never pressed. */
  expectNothingForeign(): void {
    expect([...this.service.arrived].filter((key) => !this.pressed.has(key))).toEqual([])
  }
}

interface Point {
  readonly timestamp: number
  readonly mode?: string
}
/** A mode for which the service rejects points for good. */
const WRONG = 'wrong'

type Model = object
const command = (name: string, run: (walk: Walk) => unknown): fc.AsyncCommand<Model, Walk> => ({
  check: () => true,
  async run(_, walk) {
    await run(walk)
    walk.expectNothingForeign()
  },
  toString: () => name,
})
const always = (name: string, run: (walk: Walk) => unknown) => fc.constant(command(name, run))
const aWindow = fc.nat(2)
const consentElsewhere = (agreed: boolean) => (walk: Walk) => {
  if (walk.pilgrim === undefined || !walk.service.consents.has(walk.pilgrim)) return
  walk.service.consents.set(walk.pilgrim, agreed)
  walk.chosen = null
}

const COMMANDS = [
  ...Array.from({ length: 4 }, () =>
    fc
      .tuple(
        fc.constantFrom('checkin', 'track', 'track', 'person', 'unshare', 'share', 'report', 'survey'),
        aWindow,
        fc.nat(9).map((n) => n === 0),
      )
      .map(([kind, n, isWrong]) =>
        command(`${kind} in ${n}${isWrong ? ', wrong' : ''}`, (walk) => walk.press(kind, n, isWrong)),
      ),
  ),
  fc
    .array(fc.constantFrom(...FAULTS), { minLength: 1, maxLength: 4 })
    .map((faults) => command(faults.join(), (walk) => walk.service.faults.push(...faults))),
  aWindow.map((n) => command(`send ${n}`, (walk) => walk.queue(n).send())),
  aWindow.map((n) => command(`send ${n} meanwhile`, (walk) => walk.underWay.push(walk.queue(n).send()))),
  aWindow.map((n) => command(`reload ${n}`, (walk) => walk.reload(n))),
  fc.constantFrom(1_000, 60_000, 900_000).map((ms) => command(`${ms} ms`, (walk) => walk.clock.move(ms))),
  fc
    .constantFrom('active', 'paused', 'ended')
    .map((event) => command(`event ${event}`, (walk) => (walk.service.event = event))),
  fc.boolean().map((knows) => command(`token ${knows}`, (walk) => (walk.service.knowsToken = knows))),
  fc.boolean().map((agreed) => command(`consent ${agreed}`, (walk) => walk.consent(agreed))),
  fc.boolean().map((agreed) => command(`consent ${agreed} elsewhere`, consentElsewhere(agreed))),
  always('erased elsewhere', ({ service, pilgrim }) => pilgrim && service.erased.add(pilgrim)),
  always('begun again elsewhere', (walk) => {
    if (walk.pilgrim !== undefined && walk.service.erased.delete(walk.pilgrim)) consentElsewhere(true)(walk)
  }),
  always('restored backup', ({ service, pilgrim }) => pilgrim && service.consents.delete(pilgrim)),
  always('read', (walk) => walk.read()),
  always('read meanwhile', (walk) => walk.underWay.push(walk.read())),
  always('record', (walk) => walk.change('recordingStarted', null)),
  fc.boolean().map((rests) => command(`rests ${rests}`, (walk) => walk.change('rests', rests))),
  fc.boolean().map((looks) => command(`restoring ${looks}`, (walk) => walk.change('restoring', looks))),
  fc
    .tuple(fc.constantFrom('pilgrim-1', 'ben'), fc.boolean())
    .map(([userId, sends]) =>
      command(`take ${userId}, ${sends ? 'sent' : 'clean'}`, (walk) => walk.take(userId, sends)),
    ),
]

let opened = 0

/**
 * Runs this many walks, every twentieth on IndexedDB and the others in memory.
 * @throws the fault, with the seed and the shortest walk that shows it
 */
export const walks = (numRuns: number, seed?: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.commands(COMMANDS, { maxCommands: 40, size: 'max' }),
      async (windows, commands) => {
        const isSlow = ++opened % 20 === 0
        const walk = new Walk(
          isSlow ? await openIndexedDbStore(`model-${opened}`) : createMemoryStore(),
          windows,
        )
        walk.service.consents.set('ben', true)
        await walk.begin()
        await fc.asyncModelRun(() => ({ model: {}, real: walk }), commands)
        await walk.end()
        await walk.store.close()
      },
    ),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  )
