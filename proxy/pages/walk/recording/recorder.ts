/**
 * Records the way while the page is visible; hidden pages get no positions. One tab records for all; when it
 * is closed, hidden or crashes, another one takes over. A recorded point is queued before anything else
 * happens.
 */
import { effect, signal } from '@preact/signals'
import { keep, valueOfWalk } from '../session/stored-signals.ts'
import { keepPoint } from '../outbox.ts'
import { now } from '../session/clock.ts'
import { isFollowed } from '../session/service.ts'
import { positionPermission } from '../session/answering.ts'
import {
  hindered,
  listenForSilence,
  NO_PAUSES,
  received,
  reopened,
  SILENT_MS,
  started,
  stopped,
} from './pause-log.ts'
import { afterCheckIn, EMPTY, filterFix, type Fix, isResting } from './position-filter.ts'
import { faultOf, fixOf, onePosition, OPTIONS, type PositionFault, watching } from './positions.ts'
import { change, person, recording, resting, state } from '../session/current-state.ts'
import { records } from '../state.ts'
import { type Trail, trailAfter, type TimedPlace } from '../way/stations.ts'

/**
 * Keeps the screen on now and whenever the page becomes visible, until the signal aborts.
 * @returns a function that releases the wake lock
 */
function keepAwake(signal: AbortSignal): () => void {
  let lock: WakeLockSentinel | null = null
  const ask = async (): Promise<void> => {
    if (document.visibilityState !== 'visible' || signal.aborted) return
    try {
      const given = await navigator.wakeLock?.request('screen')
      if (signal.aborted) await given?.release()
      else lock = given ?? null
    } catch {
      // Refused at low battery: the screen turns off, and the pause log shows it.
    }
  }
  const asked = () => void ask()
  asked()
  document.addEventListener('visibilitychange', asked)
  return () => {
    document.removeEventListener('visibilitychange', asked)
    void lock?.release()
  }
}

const filter = valueOfWalk(EMPTY, 'walk-filter')
export const pauses = valueOfWalk(NO_PAUSES, 'walk-pauses')

export const lastFix = valueOfWalk<Fix | null>(null)
export const positionFault = valueOfWalk<PositionFault | null>(null)
export const recordsHere = signal(false)

const trail = valueOfWalk<Trail>({ userId: '', places: [] }, 'walk-trail')

/** Adds a place of the pilgrim to the trail: a recorded point or a check-in. */
function noteTrail(place: TimedPlace): void {
  const userId = person.peek()?.userId
  if (userId === undefined) return
  const next = trailAfter(trail.peek(), userId, place)
  if (next !== trail.peek()) keep(trail, next)
}

export const ownTrail = (): readonly TimedPlace[] =>
  trail.value.userId === person.value?.userId ? trail.value.places : []

const isSeen = signal(document.visibilityState === 'visible')

const LOCK = 'walk-recorder'
/** Interval of position requests at rest. */
const REST_MS = 30_000
const MINUTE_MS = 60_000

async function take(fix: Fix): Promise<void> {
  // The position was requested before the pilgrim stopped or withdrew consent.
  if (!recording.value) return
  const userId = person.value?.userId
  positionFault.value = null
  const { state: filtered, record, skipped } = filterFix(filter.value, fix, isFollowed())
  const before = pauses.value
  if (skipped === 'rough') noteRough(fix)
  else {
    lastFix.value = fix
    keep(pauses, received(before, fix.t))
  }
  for (const { t, ...fields } of record) {
    const isKept = await keepPoint('track', { ...fields, timestamp: t, source: 'walk' })
    // Another walk was taken over meanwhile.
    if (person.value?.userId !== userId) return
    if (isKept) continue
    // Nothing was stored, so the log has a gap here.
    keep(pauses, before)
    return fail('storage')
  }
  // Updated after the point is stored: a lost point must not be the last one.
  keep(filter, filtered)
  const kept = record.at(-1)
  // A rough position shows neither the direction nor whether the pilgrim rests.
  if (skipped === 'rough') return
  if (kept !== undefined) noteTrail(kept)
  change('rests', isResting(filtered, fix.t))
}

/** A satellite fix takes a moment, so this is not a fault at once. */
function noteRough({ t }: Fix): void {
  keep(pauses, hindered(pauses.value, 'rough'))
  if (t - (pauses.value.lastMs ?? t) >= MINUTE_MS) positionFault.value = 'rough'
}

function fail(fault: PositionFault): void {
  positionFault.value = fault
  const cause = fault === 'slow' || fault === 'no-answer' ? 'no-signal' : fault
  keep(pauses, hindered(pauses.value, cause))
}

/** Queues positions so that the filter sees them in order. */
let taking: Promise<void> = Promise.resolve()
const takeInOrder = (fix: Fix): void => {
  taking = taking.then(() => take(fix)).catch(reportError)
}

function noteHere(at: Pick<Fix, 't' | 'lat' | 'lng' | 'accuracy'>): void {
  keep(filter, afterCheckIn(filter.value, at))
  noteTrail(at)
}

/** A check-in was stored. It waits for a position that is being stored, which would overwrite its change. */
export function noteCheckIn(at: Pick<Fix, 't' | 'lat' | 'lng' | 'accuracy'>): void {
  const userId = person.value?.userId
  taking = taking.then(() => (person.value?.userId === userId ? noteHere(at) : undefined)).catch(reportError)
}

/** Watches positions until the signal aborts: continuously on the way, every 30 s at rest. */
async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (resting.value) {
      await pauseFor(REST_MS, signal)
      if (signal.aborted) return
      if (!resting.value) continue
      const found = await onePosition()
      if (signal.aborted) return
      if (typeof found === 'string') fail(found)
      else takeInOrder(found)
      // The pilgrim may have gone on: a watch reports as soon as there is a position.
      if (found === 'slow' || found === 'no-answer') change('rests', false)
      await taking
      if (found === 'permission') await permissionMayHaveChanged(signal)
      continue
    }
    const why = await watchUntilRest(signal)
    if (why === 'permission') await permissionMayHaveChanged(signal)
  }
}

const after = (ms: number, call: () => void) => {
  const timer = setTimeout(call, ms)
  return () => clearTimeout(timer)
}

/** `anew`: to be restarted, so that the browser asks the phone. */
type WatchEnd = 'rest' | 'permission' | 'anew'

const watchUntilRest = (signal: AbortSignal): Promise<WatchEnd> =>
  new Promise((resolve) => {
    const leave = (why: WatchEnd) => {
      navigator.geolocation.clearWatch(id)
      signal.removeEventListener('abort', end)
      silence.stop()
      ended()
      stop()
      resolve(why)
    }
    const end = () => leave('rest')
    const id = navigator.geolocation.watchPosition(
      (position) => {
        const fix = fixOf(position)
        if (fix === null) return
        silence.heard()
        takeInOrder(fix)
      },
      (error) => {
        // A phone at rest reports no positions, which is no fault: the next watch requests one.
        if (faultOf(error) === 'slow' && now() - (lastFix.value?.t ?? 0) < SILENT_MS) return
        fail(faultOf(error))
        // The browser has ended the watch for good.
        if (faultOf(error) === 'permission') queueMicrotask(() => leave('permission'))
      },
      OPTIONS,
    )
    const silence = listenForSilence(() => leave('anew'), after)
    const ended = watching(() => leave('anew'))
    signal.addEventListener('abort', end)
    let first = true
    const stop = effect(() => {
      const rests = resting.value
      if (rests && !first) queueMicrotask(end)
      first = false
    })
  })

/**
 * Resolves when the permission has changed, or when the pilgrim returns to the app, perhaps from the
 * settings.
 */
async function permissionMayHaveChanged(signal: AbortSignal): Promise<void> {
  const status = await positionPermission()
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const over = new AbortController()
    const done = () => {
      over.abort()
      resolve()
    }
    const options = { signal: over.signal }
    status?.addEventListener('change', done, options)
    // It changed in between, or the phone denies what the browser grants.
    if (status?.state === 'granted') setTimeout(done, REST_MS)
    signal.addEventListener('abort', done, options)
    document.addEventListener(
      'visibilitychange',
      () => document.visibilityState === 'visible' && done(),
      options,
    )
  })
}

/** Waits at rest. It ends early if a last position of the watch shows that the pilgrim walks again. */
const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      queueMicrotask(() => stop())
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    const stop = effect(() => {
      if (!resting.value) done()
    })
  })

let running: AbortController | null = null

/** The page was loaded while recording was switched on. */
let wasClosed = false

async function run(signal: AbortSignal): Promise<void> {
  if (!('geolocation' in navigator)) return fail('no-signal')
  recordsHere.value = true
  // Only the recording window writes the log: another one may not have received its latest entries.
  if (wasClosed) keep(pauses, reopened(pauses.value))
  wasClosed = false
  const release = keepAwake(signal)
  try {
    await watch(signal)
  } finally {
    recordsHere.value = false
    release()
  }
}

/** Records in this tab as soon as no other tab does. */
function begin(): void {
  if (running !== null) return
  const { signal } = (running = new AbortController())
  const locks = navigator.locks
  const done = locks === undefined ? run(signal) : locks.request(LOCK, { signal }, () => run(signal))
  // The lock request was aborted.
  void Promise.resolve(done).catch(() => undefined)
}

export function startRecording(): void {
  wasClosed = false
  keep(pauses, started(pauses.value, now()))
  change('recordingStarted', null)
}

export function stopRecording(): void {
  change('recordingStopped', null)
}

/** Follows the recording switch, in this tab and in others. */
export function watchRecording(): void {
  wasClosed = recording.value
  document.addEventListener('visibilitychange', () => {
    const isHidden = document.visibilityState !== 'visible'
    if (isHidden && recordsHere.value) keep(pauses, hindered(pauses.value, 'hidden'))
    isSeen.value = !isHidden
  })
  effect(() => {
    // Also if consent was withdrawn on another phone, or another walk was taken over.
    if (!recording.value && pauses.peek().lastMs !== null) keep(pauses, stopped(pauses.peek(), now()))
  })
  effect(() => {
    // After the event nothing is counted, so the screen may turn off.
    if (isSeen.value && records(state.value)) begin()
    else {
      running?.abort()
      running = null
      change('rests', false)
    }
  })
}
