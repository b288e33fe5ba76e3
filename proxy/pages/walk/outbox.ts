/**
 * Everything that the app sends in the background is queued (IndexedDB `walk`) until the service has it:
 * check-ins, points, name and consent, reports, the survey. All windows share one sender, and `holds` below
 * alone decides what may be sent.
 *
 * To add a kind, add a line to `entry-kinds.ts` and a sender to `session/senders.ts`, which must be
 * idempotent; store entries with `keepEntry`, and learn their result with `whenSettled`. A kind listed before
 * `person` is sent first; an `urgent` kind (an emergency) bypasses `holds` and is delayed only by its own
 * failures.
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

/** A response may arrive after another walk was taken over: ignore entries of the previous walk. */
const isOfWalk = ([first]: readonly Entry[]): boolean => first?.userId === person.peek()?.userId

/**
 * Calls the listener when entries of the walk have left the outbox: accepted, or rejected for good (`error`).
 */
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
 * Null until the store is open; `'failed'` if the browser refuses to store anything; `'outdated'` if a newer
 * release has changed the store, which only a reload resolves.
 */
export const queue = signal<TrackQueue | 'failed' | 'outdated' | null>(null)
const stored = signal<QueueState | null>(null)

const aside = computed(() => {
  const checkIns = asideOfPilgrim().filter(({ kind }) => kind === 'checkin').length
  return { checkIns, points: asideOfPilgrim().length - checkIns }
})

/** Pending entries on this device, including points that the store cannot take at the moment. */
export const waiting = computed((): QueueState | null => {
  if (stored.value === null) return null
  const { checkIns, points } = stored.value.waiting
  return {
    ...stored.value,
    waiting: { checkIns: checkIns + aside.value.checkIns, points: points + aside.value.points },
  }
})

/** Number of pending entries of a kind. */
export const waitingOf = (kind: EntryKind): number => waiting.value?.added[kind] ?? 0

/** Whether this device has any pending data of the pilgrim. */
export const anythingWaits = computed(() => {
  const { checkIns, points } = waiting.value?.waiting ?? aside.value
  const added = Object.values(waiting.value?.added ?? {}).reduce((sum, number) => sum + number, 0)
  return checkIns + points + added > 0
})

/** The pilgrim's check-ins: counted by the service plus pending. */
export const totalCheckIns = computed(
  () => tally.value.counted + (waiting.value?.waiting ?? aside.value).checkIns,
)

/** Pending points on this device, for export. Empty if the store fails. */
export const waitingPoints = async (open: TrackQueue): Promise<readonly QueuedPoint[]> =>
  [...(await open.waiting().catch(() => [])), ...asideOfPilgrim()].sort((a, b) => a.t - b.t)

/** A tab with an older release blocks the opening of the store. */
export const storeBlocked = signal(false)

let store: IndexedDbStore | null = null
/** Id of the pilgrim whose entries are deleted when the store opens. */
const TO_CLEAR = 'walk-to-clear'

/** The pilgrim's data were deleted from the device: a position that still arrives is dropped. */
let cleared = false

/** Deletes pending data after an erasure. */
export async function clearQueue(userId: string | null): Promise<void> {
  cleared = true
  await openedQueue()?.stop()
  forgetSetAside()
  if (userId !== null) await clearEntries(userId)
}

/** Deletes a pilgrim's pending entries. If the store cannot be written, this is done when it opens. */
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
/**
 * Requests persistent storage once there is data to lose: some browsers ask the pilgrim, who may never
 * answer.
 */
function askForRoom(): void {
  if (!persistent) void navigator.storage?.persist?.().catch(() => undefined)
  persistent = true
}

/**
 * Queues an entry on this device until the service has it.
 * @returns an error `storage` if the browser refuses to store it
 */
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

/** Withdraws unsent entries of a kind. */
export async function withdrawEntries(kind: EntryKind): Promise<void> {
  const open = openedQueue()
  if (open !== null) await open.withdraw(await open.entries(kind)).catch(() => undefined)
}

export const entriesOf = async (kind: EntryKind): Promise<readonly Entry[]> =>
  (await openedQueue()
    ?.entries(kind)
    .catch(() => [])) ?? []

/** Removes and returns the last entry of a kind that the service rejected for good. */
export async function takeRefused(kind: EntryKind): Promise<{ fields: object; code: string } | null> {
  const open = openedQueue()
  const all = (await open?.refused().catch(() => [])) ?? []
  const own = all.filter((entry) => entry.kind === kind)
  await open?.dismiss(own).catch(() => undefined)
  const last = own.at(-1)
  return last === undefined ? null : { fields: last.fields, code: last.reason }
}

/** Stores a point on this device. @returns false if the browser cannot store it */
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
    // Nobody is signed in, or the position is invalid.
    if (kept.error.code !== 'storage') return false
  }
  const userId = person.value?.userId
  // If the store never opens, set-aside points would never be sent.
  if (queue.value === 'failed' || userId === undefined || !setAside({ kind, userId, point })) return false
  giveBackLater()
  return true
}

/** Stores the points of a recorded file, all or none. @returns false if they are not stored */
export async function keepTrack(points: readonly TimedPoint[]): Promise<boolean> {
  const open = openedQueue()
  return !cleared && open !== null && (await open.record(points)).ok
}

/** Delay before the store is tried again after a failure. */
const AGAIN_MS = 10_000
let again: ReturnType<typeof setTimeout> | undefined

function giveBackLater(): void {
  clearTimeout(again)
  again = setTimeout(() => void giveBack(), AGAIN_MS)
}

/** Moves set-aside points back into the store, and retries until it accepts them. */
async function giveBack(): Promise<void> {
  const [open, walker] = [openedQueue(), person.value]
  if (open !== null && walker !== null && !(await takeBack(open, walker.userId))) giveBackLater()
}

type LastCheckIn = {
  readonly t: number
  readonly accuracy: number | null
  /** `kept`: stored on this device; `counted`: the service has it. */
  readonly state: 'kept' | 'counted'
  readonly inRange: boolean
  readonly clockCorrected: boolean
}
export const lastCheckIn = valueOfWalk<LastCheckIn | null>(null)

/** Resolves when the store is open or has failed for now. */
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
    // This release is being rolled back: show the values that the newer one stores.
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
  // The pilgrim was erased while the browser refused to delete the data.
  if (store === null && (values.get('walk-person') as Person | undefined)?.userId === userId)
    await opened.setValues(new Map([...values.keys()].map((name) => [name, undefined])))
  remember(TO_CLEAR, null)
}

const collectMs = (): number => cadenceOf(mode.peek(), isFollowed(), readOften()).collectMs

/** Time after which a hidden window that does not release the sender's lock loses it. */
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
      // A walk may be deleted while its request is in flight: store nothing about it.
      setWaits: async (userId, waits) => {
        if (userId === (await owner())?.userId) await opened.setWaits(userId, waits)
      },
    },
    added: KINDS,
    holds,
    network,
    limits: { collectMs },
    // The time of the next attempt is shown, even if the device's clock is wrong.
    clock: { ...systemClock, now },
    onSent(sent) {
      if (!isOfWalk([...sent.durable, ...sent.rejected, ...sent.later])) return void (before = null)
      if (sent.kind === 'checkin') settleCheckIn(sent)
      // Refresh the figures for a pilgrim who is looking.
      if (sent.kind === 'checkin' || readOften()) void refreshProfile()
    },
  })
  let noted: QueueState['why'] = null
  started.subscribe((current) => {
    // Before registration there is no pilgrim: nothing is pending and no log-in is needed.
    if (person.value === null || queue.value !== started) return
    stored.value = withoutSettling(current)
    const { why, message } = current
    // The state changes several times for one rejection, and `noteError` sends requests.
    if (why !== null && why !== 'offline' && why !== noted)
      noteError({ code: why, message: message ?? '', status: 0 })
    noted = why
  })
  // A state change may allow or stop sending.
  state.subscribe(() => started.awaken())
  answered.subscribe(() => void heal(started))
  started.start()
  void started.ready.then(({ loaded, waiting: { checkIns } }) =>
    loaded && checkIns === 0 ? nothingInDoubt() : undefined,
  )
  onSetAside(() => void giveBack())
  // Another window has sent a check-in: recount the pending ones.
  onKept(tally, () => void started.rejected())
  queueMicrotask(() => void giveBack().then(introduce))
  return started
}

/** Interval at which the app retries what the service rejects for no reason that the app knows of. */
const FORGIVEN_MS = 120_000
let forgivenMs = -Infinity

/** The service is reachable again: retry what waited for the network, and what was rejected. */
async function heal(open: TrackQueue): Promise<void> {
  try {
    await open.reconnected()
    if (!open.state.stopped || whyHeld(state.peek(), true) !== null) return
    if (Math.abs(now() - forgivenMs) < FORGIVEN_MS) return
    forgivenMs = now()
    await open.resume()
  } catch {
    // The store failed; the next response triggers another attempt.
  }
}

/** A newer release has taken over the store. Points recorded until the reload are set aside for it. */
async function leaveStore(): Promise<void> {
  const open = openedQueue()
  queue.value = 'outdated'
  stored.value = null
  reloadWhenHidden()
  await open?.stop()
}

/**
 * Sends pending entries on the pilgrim's request, ignoring a requested delay and a rejected log-in.
 * @returns what is still pending and why; null if the store fails
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

/** Sends an entry that was just queued, respecting delays. Resolves when it has arrived or must wait. */
export const sendKept = async (): Promise<QueueState | null> => (await openedQueue()?.send()) ?? null

/** Number of `person` entries being written to the store. */
let beingKept = 0

/** Queues changes of the pilgrim's profile and consent. Only what was chosen on this phone is written. */
export async function tellService(fields: PersonFields): Promise<Kept> {
  beingKept++
  try {
    return await keepEntry('person', fields)
  } finally {
    beingKept--
  }
}

/** Registers the pilgrim at the service if it does not know them and no entry is pending. */
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

/** Marks the pilgrim as known to the service, unless further entries are pending or being stored. */
async function noteKnown(userId: string): Promise<void> {
  if ((await entriesOf('person')).length > 0 || beingKept > 0) return
  change('known', userId)
  profileChanged()
  await refreshProfile()
}

whenSettled('person', (entries, { error }) => {
  if (error !== undefined) return noteError(error)
  void noteKnown(entries[0]!.userId)
  // Retry entries that were rejected for the missing consent.
  openedQueue()
    ?.resume()
    .catch(() => undefined)
})

/** Sends a language that was chosen on this phone to the service. */
export function tellLanguage(): void {
  const first = language.peek()
  effect(() => {
    const [chosen, given] = [language.value, person.value]
    // The browser's default language is not a choice.
    const before = given?.language ?? (remembered('language') === null ? first : null)
    if (given === null || chosen === before) return
    const { userId } = given
    void tellService({ language: chosen }).then(
      ({ ok }) => ok && change('languageTold', { userId, language: chosen }),
    )
  })
}

/** Shows a check-in in flight as pending until {@link settleCheckIn}, so that the sum never falls. */
function withoutSettling(current: QueueState): QueueState {
  const checkIns = Math.max(stored.peek()?.waiting.checkIns ?? 0, current.waiting.checkIns)
  return isCheckingIn() && current.sending
    ? { ...current, waiting: { ...current.waiting, checkIns } }
    : current
}

/** Shows the result of a check-in. The sum stays the same: a pending check-in becomes a counted one. */
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

// Sending: keeps the tally up to date with each check-in.

/** The tally before the check-in that this window is sending; null: none. */
let before: Tally | null = null

/** Whether this window has a check-in whose result is still unknown. */
const isCheckingIn = (): boolean => before !== null

/** The service responded and counted nothing; after any other failure it may have counted. */
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

/** A check-in has left the queue: the service has stored it or rejected it for good. */
function tallySettled({ answer }: Pick<Sent, 'answer'>): void {
  // A duplicate counts here if an earlier attempt lost its response: the figure does not include it yet.
  const counts =
    answer !== null &&
    'in_range' in answer &&
    answer.in_range &&
    (!answer.duplicate || before === null || before.inDoubt)
  keep(tally, settled(tally.value, counts))
  before = null
}

/** Clears the doubt when nothing is pending: an earlier run ended before it could. */
function nothingInDoubt(): void {
  if (before === null && tally.value.inDoubt) keep(tally, settled(tally.value, false))
}
