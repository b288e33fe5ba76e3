/** The queue of check-ins and points: everything that is recorded is on this device first, and sent by itself. */
import { batch, computed, type ReadonlySignal, signal } from '@preact/signals'
import {
  createTrackQueue,
  type Kind,
  type QueuedPoint,
  type QueueState,
  type QueueStore,
  type Sent,
  type TrackQueue,
  type Answer,
  type Client,
  type Data,
} from '#shared/client/index.ts'
import { openIndexedDbStore, OutdatedError } from '#shared/client/queue/indexed-db-store.ts'
import { systemClock } from '#shared/client/queue/clock-and-network.ts'
import { remember, remembered } from '../../frame/storage.ts'
import { now } from './clock.ts'
import { onKept, keep } from './stored-signals.ts'
import { person } from './person.ts'
import {
  config,
  consentWithdrawn,
  erasedElsewhere,
  noteError,
  refreshProfile,
  signInNeeded,
  tally,
  client,
  owner,
} from './service.ts'
import {
  asideOfPilgrim,
  forgetSetAside,
  onSetAside,
  recordIn,
  setAside,
  takeBack,
  type TimedPoint,
} from './unstored-points.ts'
import { reloadWhenHidden } from './update.ts'
import { refused, sending, settled, type Tally } from '../checkin/tally.ts'

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

/** What waits on this device, also where the store can not take it at the moment. */
export const waiting = computed((): QueueState | null => {
  if (stored.value === null) return null
  const { checkIns, points } = stored.value.waiting
  return {
    ...stored.value,
    waiting: { checkIns: checkIns + aside.value.checkIns, points: points + aside.value.points },
  }
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

let store: QueueStore | null = null
/** Whose points are to be forgotten when the store opens. */
const TO_CLEAR = 'walk-to-clear'

/** The device forgets the pilgrim: a position that still arrives is not kept. */
let cleared = false

/** Forgets what waits, after an erasure. */
export async function clearQueue(userId: string | null): Promise<void> {
  cleared = true
  await openedQueue()?.stop()
  forgetSetAside()
  if (userId === null) return
  // Where a newer release has the store, or the store fails, it is done when it opens.
  remember(TO_CLEAR, userId)
  if (queue.value === 'outdated' || store === null) return
  await clearForgotten(store).catch(() => undefined)
}

function openedQueue(): TrackQueue | null {
  const open = queue.value
  return open === 'failed' || open === 'outdated' ? null : open
}

let persistent: Promise<boolean> | undefined

/** Keeps a point on this device. @returns false where the browser keeps nothing */
export async function keepPoint(kind: Kind, point: TimedPoint): Promise<boolean> {
  // Asked for once somebody has something to lose: some browsers ask the pilgrim.
  persistent ??= navigator.storage?.persist?.()
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
export const lastCheckIn = signal<LastCheckIn | null>(null)

export async function openQueue(): Promise<void> {
  try {
    const opening = await openIndexedDbStore('walk', {
      onOutdated: () => void leaveStore(),
      onBlocked: () => (storeBlocked.value = true),
    })
    if (queue.value === 'outdated') return
    await clearForgotten((store = opening))
    queue.value = startQueue(opening)
  } catch (error) {
    queue.value = error instanceof OutdatedError ? 'outdated' : 'failed'
    if (queue.value === 'failed') setTimeout(() => void openQueue(), AGAIN_MS)
  } finally {
    storeBlocked.value = false
  }
}

async function clearForgotten(opened: QueueStore): Promise<void> {
  const userId = remembered(TO_CLEAR)
  if (userId === null) return
  await opened.clear(userId)
  remember(TO_CLEAR, null)
}

function startQueue(opened: QueueStore): TrackQueue {
  const started = createTrackQueue({
    client: sender,
    store: opened,
    // Times of the next attempt are told, also where the device's clock is wrong.
    clock: { ...systemClock, now },
    onSent(sent) {
      if (sent.kind === 'checkin') settleCheckIn(sent)
      signInNeeded.value = false
      void refreshProfile()
    },
  })
  let noted: QueueState['why'] = null
  started.subscribe((state) => {
    // Before the first minute nobody walks: nothing waits, and nobody has to log in again.
    if (person.value === null || queue.value !== started) return
    stored.value = withoutSettling(state)
    const { why, message } = state
    // The state changes several times for one refusal, and what notes it asks the service.
    if (why !== null && why !== 'offline' && why !== noted)
      noteError({ code: why, message: message ?? '', status: 0 })
    noted = why
  })
  sendUnlessErased(started)
  resumeAfter(started, erasedElsewhere)
  resumeAfter(
    started,
    computed(() => consentWithdrawn.value || person.value?.known === false),
  )
  sendWhenActive(started)
  void started.ready.then(({ loaded, waiting: { checkIns } }) =>
    loaded && checkIns === 0 ? nothingInDoubt() : undefined,
  )
  onSetAside(() => void giveBack())
  // Another window has sent a check-in: this one looks at what still waits.
  onKept(tally, () => void started.rejected())
  queueMicrotask(() => void giveBack())
  return started
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

/** Sends by itself, but nothing of a pilgrim who was erased elsewhere: a point would make a new person. */
function sendUnlessErased(started: TrackQueue): void {
  erasedElsewhere.subscribe((gone) => {
    if (gone) void started.stop()
    else if (queue.peek() !== 'outdated') started.start()
  })
}

/** Sends what the service has refused, as soon as the cause of its refusal is over. */
function resumeAfter(started: TrackQueue, refuses: ReadonlySignal<boolean>): void {
  let before = false
  refuses.subscribe((now) => {
    // Where the store fails, the next round says so.
    if (before && !now) started.resume().catch(() => undefined)
    before = now
  })
}

/** Sends what the service has refused while the event was paused as soon as the app hears that it goes on. */
function sendWhenActive(started: TrackQueue): void {
  let before = config.peek()?.status ?? null
  config.subscribe((event) => {
    const status = event?.status ?? null
    // Unknown for a moment: it is as it was.
    if (status === null) return
    const goesOn = status === 'active' && before !== null && before !== 'active'
    before = status
    const { why } = started.state
    // Where the store fails, the next round says so.
    if (goesOn && (why === 'paused' || why === 'ended')) started.resume().catch(() => undefined)
  })
}

/**
 * Sends what waits because the pilgrim says so. A wait that the service asked for is forgotten.
 * @returns what waits after that, and why; null where the store fails
 */
export async function sendNow(open: TrackQueue): Promise<QueueState | null> {
  try {
    await open.resume()
    return await open.send()
  } catch {
    return null
  }
}

/** While a check-in is on its way it is shown as waiting until {@link settleCheckIn}, so that the sum never falls. */
function withoutSettling(state: QueueState): QueueState {
  const checkIns = Math.max(stored.peek()?.waiting.checkIns ?? 0, state.waiting.checkIns)
  return isCheckingIn() && state.sending ? { ...state, waiting: { ...state.waiting, checkIns } } : state
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
