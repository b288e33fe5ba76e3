/** An SOS of this phone: kept until the service has it, then asked about until an operator has seen it. */
import type { ClientError } from '#shared/client/index.ts'
import { signal } from '@preact/signals'
import { onePosition } from '../recording/positions.ts'
import { lastFix } from '../recording/recorder.ts'
import { within } from '../session/answering.ts'
import { now } from '../session/clock.ts'
import { person } from '../session/current-state.ts'
import { client, noteError } from '../session/service.ts'
import { keep, kept } from '../session/stored-signals.ts'

interface Place {
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
  /** Epoch milliseconds by the service's clock. */
  readonly t: number
}

interface Sos {
  /** Whose it is: another walk may be restored on this phone meanwhile. */
  readonly userId: string
  /** By the phone's clock: identifies the press at the service. */
  readonly pressedMs: number
  readonly place: Place | null
  /** When the service had it, by its clock; null: it waits. */
  readonly sentMs: number | null
  /** When an operator confirmed it; null: nobody has yet. */
  readonly seenMs: number | null
  /** Whether nobody could be alerted; absent: that is not known. */
  readonly isUnalerted?: boolean
}

export const sos = kept<Sos | null>('walk-sos', null)
/** Why the last attempt failed. */
export const whySosWaits = signal<ClientError | null>(null)

/** A position of so long ago is still of here, ms. */
const RECENT_MS = 120_000
/** The alert does not wait longer for a position, ms: the service knows the last one. */
const SEARCH_MS = 8_000
const AGAIN_MS = 15_000
/** After this time nobody is asked any more whether it was seen, ms. */
const OLD_MS = 24 * 3_600_000

let searching: Promise<void> = Promise.resolve()

/** Raises an emergency. A press while an earlier one waits replaces it: both are one emergency. */
export function pressSos(): void {
  const userId = person.value?.userId
  if (userId === undefined) return
  const fix = lastFix.value
  const place = fix !== null && now() - fix.t < RECENT_MS ? placeOf(fix) : null
  const press: Sos = { userId, pressedMs: Date.now(), place, sentMs: null, seenMs: null }
  keep(sos, press, 'strict')
  whySosWaits.value = null
  searching = place === null ? findPlace(press) : Promise.resolve()
  void sendSos()
}

const placeOf = ({ lat, lng, accuracy, t }: Place): Place => ({ lat, lng, accuracy, t })

async function findPlace({ pressedMs }: Sos): Promise<void> {
  const found = await within(SEARCH_MS, onePosition())
  const held = sos.value
  if (typeof found === 'string' || held?.pressedMs !== pressedMs) return
  keep(sos, { ...held, place: placeOf(found) })
}

let sending = false

/** Sends what waits, or asks whether it was seen. */
export async function sendSos(): Promise<void> {
  if (sending || !isOpen(sos.value)) return
  sending = true
  try {
    await searching
    const press = sos.value
    if (press === null || !isOpen(press)) return
    const answer = await client.raiseEmergency(requestOf(press))
    if (sos.value?.pressedMs !== press.pressedMs) return
    whySosWaits.value = answer.ok ? null : answer.error
    if (!answer.ok) {
      // An error about the walk before does not concern the current one.
      if (isOfCurrentWalk(press)) noteError(answer.error)
      return
    }
    const { seen_at: seenAt, alerted } = answer.data
    const seenMs = seenAt === null ? null : Date.parse(seenAt)
    keep(sos, { ...sos.value, sentMs: press.sentMs ?? now(), seenMs, isUnalerted: alerted === false })
  } finally {
    sending = false
  }
}

export const isOfCurrentWalk = ({ userId }: Sos): boolean => userId === person.value?.userId

/** A waiting SOS is sent even after another walk was taken over. */
function isOpen(press: Sos | null): boolean {
  if (press === null || press.seenMs !== null) return false
  if (press.sentMs === null) return true
  return isOfCurrentWalk(press) && Date.now() - press.pressedMs < OLD_MS && !document.hidden
}

function requestOf({ userId, pressedMs, place }: Sos) {
  const aheadMs = Date.now() - now()
  const time = (ms: number) => new Date(ms).toISOString()
  return {
    user_id: userId,
    pressed_at: time(pressedMs),
    waited_ms: Math.max(0, Date.now() - pressedMs),
    ...(place && {
      lat: place.lat,
      lng: place.lng,
      accuracy: place.accuracy,
      position_at: time(place.t + aheadMs),
    }),
  }
}

/** Sends what waits by itself, also what an earlier page has left. */
export function watchSos(): void {
  void sendSos()
  setInterval(() => void sendSos(), AGAIN_MS)
  addEventListener('online', () => void sendSos())
}
