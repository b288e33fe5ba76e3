/**
 * Everything that leaves the phone by itself waits in one queue (IndexedDB `walk`) until the service has it: check-ins,
 * points, name and consent, reports, the survey. All windows share one sender, and `holds` below is the one place that
 * decides what may go.
 *
 * To add a kind: a line in `entry-kinds.ts`, and its sender in `session/senders.ts`, which must send the same entry twice
 * without harm; `keepEntry` to keep one; `whenSettled` to learn what became of it. A kind before `person` goes first; one
 * with `urgent` (an emergency) is held up by nothing but its own failures, and is not held by `holds`.
 */
import { batch, computed, effect, signal } from '@preact/signals'
import {
  type AddedKind,
  type Answer,
  type Client,
  type ClientError,
  createTrackQueue,
  type Data,
  type Entry,
  type Kept,
  type Kind,
  type Locks,
  type Network,
  type QueuedPoint,
  type QueueState,
  type Sent,
  type TrackQueue,
} from '#shared/client/index.ts'
import { systemClock, systemNetwork } from '#shared/client/queue/clock-and-network.ts'
import {
  type IndexedDbStore,
  openIndexedDbStore,
  OutdatedError,
  readNewerValues,
} from '#shared/client/queue/indexed-db-store.ts'
import { language } from '../frame/language.ts'
import { remember, remembered } from '../frame/storage.ts'
import { refused, sending, settled, type Tally } from './checkin/tally.ts'
import { ENTRY_KINDS, type EntryKind, keyOf } from './entry-kinds.ts'
import { withLock } from './session/answering.ts'
import { now } from './session/clock.ts'
import { change, mode, person, state } from './session/current-state.ts'
import { moveFormerEntries, moveFormerValues } from './session/former-storage.ts'
import {
  type PersonFields,
  sendPerson,
  sendReport,
  sendShare,
  sendSurvey,
  sendUnshare,
} from './session/senders.ts'
import {
  answered,
  client,
  isFollowed,
  noteError,
  noteSignIn,
  owner,
  profileChanged,
  readOften,
  refreshProfile,
  tally,
} from './session/service.ts'
import { keep, onKept, openValues, showStored, valueOfWalk } from './session/stored-signals.ts'
import {
  asideOfPilgrim,
  forgetSetAside,
  onSetAside,
  recordIn,
  setAside,
  takeBack,
  type TimedPoint,
} from './session/unstored-points.ts'
import { reloadWhenHidden } from './session/update.ts'
import { cadenceOf, type Person, whyHeld } from './state.ts'

type Settled = Parameters<NonNullable<AddedKind['onSettled']>>
const listeners = new Map<string, (...settled: Settled) => void>()

const SENDERS: Readonly<Record<EntryKind, AddedKind['send']>> = {
  person: sendPerson,
  unshare: sendUnshare,
  share: sendShare,
  report: (entry, options) =>
    sendReport(entry, options, (more) => keepEntry('report', { key: keyOf(entry.fields), ...more })),
  survey: sendSurvey,
}

const KINDS = Object.fromEntries(
  Object.entries(ENTRY_KINDS).map(([name, rules]): [string, AddedKind] => [
    name,
    {
      ...rules,
      send: SENDERS[name as EntryKind],
      onSettled: (entries, result) => {
        if (isOfWalk(entries)) listeners.get(name)?.(entries, result)
      },
    },
  ]),
)

/** An answer may come after another walk was taken over: nothing of the one before concerns it. */
const isOfWalk = ([first]: readonly Entry[]): boolean => first?.userId === person.peek()?.userId

/** Calls the listener when entries of the walk have left the outbox: taken, or refused for good (`error`). */
export const whenSettled = (kind: EntryKind, listener: (...settled: Settled) => void): void =>
  void listeners.set(kind, listener)

const SENTENCES = {
  erased: 'The pilgrim was deleted.',
  unauthorized: 'The log-in has expired.',
  forbidden: 'The consent was taken back.',
  paused: 'The event is paused.',
  ended: 'The event has ended.',
} as const

function holds(kind: string): ClientError | null {
  const added = KINDS[kind]
  const code = added?.urgent ? null : whyHeld(state.peek(), added === undefined)
  return code === null ? null : { code, status: 0, message: SENTENCES[code] }
}

/**
 * Null until the store is open; `'failed'` where the browser refuses to keep anything; `'outdated'` where a newer
 * release has changed the store, so that only a reload helps.
 */
export const queue = signal<TrackQueue | 'failed' | 'outdated' | null>(null)
const stored = signal<QueueState | null>(null)

const aside = computed(() => {
  const checkIns = asideOfPilgrim().filter(({ kind }) => kind === 'checkin').length
  return { checkIns, points: asideOfPilgrim().length - checkIns }
})

/** What waits on this device, also while the store cannot take it. */
export const waiting = computed((): QueueState | null => {
  if (stored.value === null) return null
  const { checkIns, points } = stored.value.waiting
  return {
    ...stored.value,
    waiting: { checkIns: checkIns + aside.value.checkIns, points: points + aside.value.points },
  }
})

/** How many entries of a kind wait. */
export const waitingOf = (kind: EntryKind): number => waiting.value?.added[kind] ?? 0

/** Whether anything of the pilgrim waits on this device. */
export const anythingWaits = computed(() => {
  const { checkIns, points } = waiting.value?.waiting ?? aside.value
  const told = Object.values(waiting.value?.added ?? {}).reduce((sum, number) => sum + number, 0)
  return checkIns + points + told > 0
})

/** The pilgrim's check-ins: those that the service has counted, and those that wait. */
export const totalCheckIns = computed(
  () => tally.value.counted + (waiting.value?.waiting ?? aside.value).checkIns,
)

/** The points that wait on this device, for a file. A store that fails gives none. */
export const waitingPoints = async (open: TrackQueue): Promise<readonly QueuedPoint[]> =>
  [...(await open.waiting().catch(() => [])), ...asideOfPilgrim()].sort((a, b) => a.t - b.t)

/** Another tab with an older release keeps the store from being opened. */
export const storeBlocked = signal(false)

let store: IndexedDbStore | null = null
/** Whose entries are to be forgotten when the store opens. */
const TO_CLEAR = 'walk-to-clear'

/** The device forgets the pilgrim: a position that still arrives is not kept. */
let cleared = false

/** Forgets what waits, after an erasure. */
export async function clearQueue(userId: string | null): Promise<void> {
  cleared = true
  await openedQueue()?.stop()
  forgetSetAside()
  if (userId !== null) await clearEntries(userId)
}

/** Forgets what waits of a pilgrim. If the store cannot be written, this is done when it opens. */
export async function clearEntries(userId: string): Promise<void> {
  remember(TO_CLEAR, userId)
  if (queue.value === 'outdated' || store === null) return
  await clearForgotten(store).catch(() => undefined)
  await openedQueue()
    ?.rejected()
    .catch(() => undefined)
}

function openedQueue(): TrackQueue | null {
  const open = queue.value
  return open === 'failed' || open === 'outdated' ? null : open
}

let persistent = false
/** Asked for once somebody has something to lose: some browsers ask the pilgrim, who may never answer. */
function askForRoom(): void {
  if (!persistent) void navigator.storage?.persist?.().catch(() => undefined)
  persistent = true
}

/** Keeps an entry on this device until the service has it. @returns why not: `storage`, where the browser refuses */
export async function keepEntry(kind: EntryKind, fields: object): Promise<Kept> {
  if (kind !== 'person') askForRoom()
  const userId = person.peek()?.userId
  await opening
  // Another walk may have been taken over meanwhile.
  const open = cleared || person.peek()?.userId !== userId ? null : openedQueue()
  return open === null
    ? { ok: false, error: { code: 'storage', status: 0, message: 'This browser keeps nothing.' } }
    : open.keep(kind, fields)
}

/** Takes back entries of a kind that are not sent yet. */
export async function withdrawEntries(kind: EntryKind): Promise<void> {
  const open = openedQueue()
  if (open !== null) await open.withdraw(await open.entries(kind)).catch(() => undefined)
}

export const entriesOf = async (kind: EntryKind): Promise<readonly Entry[]> =>
  (await openedQueue()
    ?.entries(kind)
    .catch(() => [])) ?? []

/** The last entry of a kind that the service has refused for good, which is forgotten here. */
export async function takeRefused(kind: EntryKind): Promise<{ fields: object; code: string } | null> {
  const open = openedQueue()
  const all = (await open?.refused().catch(() => [])) ?? []
  const own = all.filter((entry) => entry.kind === kind)
  await open?.dismiss(own).catch(() => undefined)
  const last = own.at(-1)
  return last === undefined ? null : { fields: last.fields, code: last.reason }
}

/** Keeps a point on this device. @returns false where the browser keeps nothing */
export async function keepPoint(kind: Kind, point: TimedPoint): Promise<boolean> {
  askForRoom()
  if (cleared) return false
  const open = openedQueue()
  if (open !== null) {
    const kept = await recordIn(open, kind, point)
    if (kept.ok) {
      if (asideOfPilgrim().length > 0) void giveBack()
      return true
    }
    // Nobody is signed in, or there is no such place.
    if (kept.error.code !== 'storage') return false
  }
  const userId = person.value?.userId
  // Where the store never opens, nothing would ever be sent.
  if (queue.value === 'failed' || userId === undefined || !setAside({ kind, userId, point })) return false
  giveBackLater()
  return true
}

/** Keeps the points of a recorded file, all of them or none. @returns false where they are not kept */
export async function keepTrack(points: readonly TimedPoint[]): Promise<boolean> {
  const open = openedQueue()
  return !cleared && open !== null && (await open.record(points)).ok
}

/** After a failure of the store. */
const AGAIN_MS = 10_000
let again: ReturnType<typeof setTimeout> | undefined

function giveBackLater(): void {
  clearTimeout(again)
  again = setTimeout(() => void giveBack(), AGAIN_MS)
}

/** Gives what is set aside back to the store, and tries again until it takes it. */
async function giveBack(): Promise<void> {
  const [open, walker] = [openedQueue(), person.value]
  if (open !== null && walker !== null && !(await takeBack(open, walker.userId))) giveBackLater()
}

type LastCheckIn = {
  readonly t: number
  readonly accuracy: number | null
  /** `kept`: on this device; `counted`: the service has it. */
  readonly state: 'kept' | 'counted'
  readonly inRange: boolean
  readonly clockCorrected: boolean
}
export const lastCheckIn = valueOfWalk<LastCheckIn | null>(null)

/** Resolves when the store is open, or has failed for now. */
let opening: Promise<void> = Promise.resolve()
export const openQueue = (): Promise<void> => (opening = open())

async function open(): Promise<void> {
  try {
    const opened = await openIndexedDbStore('walk', {
      onOutdated: () => void leaveStore(),
      onBlocked: () => (storeBlocked.value = true),
    })
    if (queue.value === 'outdated') return
    await moveFormerEntries(opened)
    await moveFormerValues(opened)
    await clearForgotten(opened)
    await openValues(opened)
    store = opened
    queue.value = startQueue(opened)
  } catch (error) {
    queue.value = error instanceof OutdatedError ? 'outdated' : 'failed'
    // This release was taken back, and goes on with what the newer one keeps.
    if (queue.value === 'outdated') showStored(await readNewerValues('walk').catch(() => new Map()))
    else setTimeout(() => void openQueue(), AGAIN_MS)
  } finally {
    storeBlocked.value = false
  }
}

async function clearForgotten(opened: IndexedDbStore): Promise<void> {
  const userId = remembered(TO_CLEAR)
  if (userId === null) return
  await opened.clear(userId)
  const values = await opened.values()
  // Erased, and the browser refused to forget it at that time.
  if (store === null && (values.get('walk-person') as Person | undefined)?.userId === userId)
    await opened.setValues(new Map([...values.keys()].map((name) => [name, undefined])))
  remember(TO_CLEAR, null)
}

const collectMs = (): number => cadenceOf(mode.peek(), isFollowed(), readOften()).collectMs

/** The sender's lock is taken from a window that is out of sight and does not give it back. */
const LOCK_MS = 15_000
const locks: Locks = { request: (name, { signal }, run) => withLock(name, LOCK_MS, run, signal) }
const network: Network = {
  online: systemNetwork.online,
  subscribe: systemNetwork.subscribe,
  get locks() {
    return systemNetwork.locks === undefined ? undefined : locks
  },
}

function startQueue(opened: IndexedDbStore): TrackQueue {
  const started = createTrackQueue({
    client: sender,
    store: {
      ...opened,
      // Of a walk that was deleted while its request was on the way nothing is left.
      setWaits: async (userId, waits) => {
        if (userId === (await owner())?.userId) await opened.setWaits(userId, waits)
      },
    },
    added: KINDS,
    holds,
    network,
    limits: { collectMs },
    // Times of the next attempt are told, also where the device's clock is wrong.
    clock: { ...systemClock, now },
    onSent(sent) {
      if (!isOfWalk([...sent.durable, ...sent.rejected, ...sent.later])) return void (before = null)
      if (sent.kind === 'checkin') settleCheckIn(sent)
      // Who looks sees the new figures.
      if (sent.kind === 'checkin' || readOften()) void refreshProfile()
    },
  })
  let noted: QueueState['why'] = null
  started.subscribe((current) => {
    // Before the first minute nobody walks: nothing waits, and nobody has to log in again.
    if (person.value === null || queue.value !== started) return
    stored.value = withoutSettling(current)
    const { why, message } = current
    // The state changes several times for one refusal, and what notes it asks the service.
    if (why !== null && why !== 'offline' && why !== noted)
      noteError({ code: why, message: message ?? '', status: 0 })
    noted = why
  })
  // What is held may go, or goes no more.
  state.subscribe(() => started.awaken())
  answered.subscribe(() => void heal(started))
  started.start()
  void started.ready.then(({ loaded, waiting: { checkIns } }) =>
    loaded && checkIns === 0 ? nothingInDoubt() : undefined,
  )
  onSetAside(() => void giveBack())
  // Another window has sent a check-in: this one looks at what still waits.
  onKept(tally, () => void started.rejected())
  queueMicrotask(() => void giveBack().then(introduce))
  return started
}

/** What the service refuses although nothing that the app knows of is against it is tried again after so long. */
const FORGIVEN_MS = 120_000
let forgivenMs = -Infinity

/** The service has answered something: what waited for the way to it is due, and what it refused may be over. */
async function heal(open: TrackQueue): Promise<void> {
  try {
    await open.reconnected()
    if (!open.state.stopped || whyHeld(state.peek(), true) !== null) return
    if (Math.abs(now() - forgivenMs) < FORGIVEN_MS) return
    forgivenMs = now()
    await open.resume()
  } catch {
    // Where the store fails, the next round says so.
  }
}

/**
 * A newer release has taken over the store. What is recorded until the reload is set aside, and that release takes
 * it.
 */
async function leaveStore(): Promise<void> {
  const open = openedQueue()
  queue.value = 'outdated'
  stored.value = null
  reloadWhenHidden()
  await open?.stop()
}

/**
 * Sends what waits because the pilgrim says so. A wait that the service asked for is forgotten, and so is a log-in that
 * it refused.
 * @returns what waits after that, and why; null where the store fails
 */
export async function sendNow(open: TrackQueue): Promise<QueueState | null> {
  try {
    noteSignIn()
    await open.resume()
    return await open.send()
  } catch {
    return null
  }
}

/** Sends what was kept just now, without forgetting a wait. Resolves when it has arrived or has to wait. */
export const sendKept = async (): Promise<QueueState | null> => (await openedQueue()?.send()) ?? null

// Who walks, for the service.

/** Entries of the pilgrim that are being written to the phone. */
let beingKept = 0

/** Keeps what the service shall know of the pilgrim. Only what was chosen on this phone is written. */
export async function tellService(fields: PersonFields): Promise<Kept> {
  beingKept++
  try {
    return await keepEntry('person', fields)
  } finally {
    beingKept--
  }
}

/** Tells the service who walks, where it does not know and nothing waits that says so. */
export async function introduce(): Promise<void> {
  const given = person.peek()
  if (given === null || given.known || openedQueue() === null) return
  if ((await entriesOf('person')).length > 0) return
  const { name, privacyVersion: version } = given
  await tellService({
    ...(name === '' ? {} : { display_name: name }),
    language: language.peek(),
    ...(version === '' ? {} : { version, agreed: !state.peek().withdrawn }),
  })
}

/** The service has what was told of the pilgrim, unless more of it waits, or is being kept. */
async function noteKnown(userId: string): Promise<void> {
  if ((await entriesOf('person')).length > 0 || beingKept > 0) return
  change('known', userId)
  profileChanged()
  await refreshProfile()
}

whenSettled('person', (entries, { error }) => {
  if (error !== undefined) return noteError(error)
  void noteKnown(entries[0]!.userId)
  // What was refused of a pilgrim without consent.
  openedQueue()
    ?.resume()
    .catch(() => undefined)
})

/** A language that was chosen on this phone reaches the organisers. */
export function tellLanguage(): void {
  const first = language.peek()
  effect(() => {
    const [chosen, given] = [language.value, person.value]
    // What the browser speaks is no choice.
    const before = given?.language ?? (remembered('language') === null ? first : null)
    if (given === null || chosen === before) return
    const { userId } = given
    void tellService({ language: chosen }).then(
      ({ ok }) => ok && change('languageTold', { userId, language: chosen }),
    )
  })
}

/** While a check-in is on its way it is shown as waiting until {@link settleCheckIn}, so that the sum never falls. */
function withoutSettling(current: QueueState): QueueState {
  const checkIns = Math.max(stored.peek()?.waiting.checkIns ?? 0, current.waiting.checkIns)
  return isCheckingIn() && current.sending
    ? { ...current, waiting: { ...current.waiting, checkIns } }
    : current
}

/** Shows what became of a check-in. The sum stays as it is: what no longer waits is counted now. */
function settleCheckIn(sent: Sent): void {
  const { durable, answer } = sent
  const [shown, last] = [stored.value, lastCheckIn.value]
  batch(() => {
    if (shown !== null) {
      const checkIns = Math.max(0, shown.waiting.checkIns - 1)
      stored.value = { ...shown, waiting: { ...shown.waiting, checkIns } }
    }
    tallySettled(sent)
    if (last === null || last.t !== durable[0]?.t || answer === null || !('in_range' in answer)) return
    const { in_range: inRange, clock_corrected: clockCorrected } = answer
    lastCheckIn.value = { ...last, state: 'counted', inRange, clockCorrected }
  })
}

// How the queue sends: each check-in into the tally.

/** The tally before the check-in that is on its way from this window; null: none is. */
let before: Tally | null = null

/** Whether a check-in of this window is on its way, until the app knows what became of it. */
const isCheckingIn = (): boolean => before !== null

/** The service has answered and counted nothing: with another failure it may have. */
const isRefusal = ({ ok, ...answer }: Answer<Data<'checkIn'>>): boolean =>
  !ok && 'error' in answer && answer.error.status >= 400 && answer.error.status < 500

const sender: Pick<Client, 'checkIn' | 'syncTrack' | 'identity'> = {
  identity: owner,
  async checkIn(point, options) {
    before = tally.value
    keep(tally, sending(before))
    const answer = await client.checkIn(point, options)
    if (answer.ok) return answer
    if (isRefusal(answer)) keep(tally, refused(tally.value, before))
    before = null
    return answer
  },
  syncTrack: client.syncTrack,
}

/** A check-in has left the queue: the service has it, or will never take it. */
function tallySettled({ answer }: Pick<Sent, 'answer'>): void {
  // An earlier attempt whose answer was lost has counted it: the figure does not have it yet.
  const counts =
    answer !== null &&
    'in_range' in answer &&
    answer.in_range &&
    (!answer.duplicate || before === null || before.inDoubt)
  keep(tally, settled(tally.value, counts))
  before = null
}

/** Nothing waits any more, so nothing is in doubt: an earlier run ended before it could note that. */
function nothingInDoubt(): void {
  if (before === null && tally.value.inDoubt) keep(tally, settled(tally.value, false))
}
