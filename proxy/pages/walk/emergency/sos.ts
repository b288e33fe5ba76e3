/**
 * The SOS presses of this phone, the latest of each pilgrim: stored until the service has them, then polled
 * for confirmation.
 */
import { batch, computed, type Signal, signal } from '@preact/signals'
import type { ClientError } from '#shared/client/index.ts'
import { onePosition, placeOf, RECENT_MS } from '../recording/positions.ts'
import { lastFix } from '../recording/recorder.ts'
import { within } from '../session/answering.ts'
import { now } from '../session/clock.ts'
import { erasedElsewhere, person, signInNeeded } from '../session/current-state.ts'
import { client, noteError, ownerNow } from '../session/service.ts'
import { keepAll, kept } from '../session/stored-signals.ts'
import { isDue, isShown, type SosPress } from './sos-press.ts'

// Releases before 1.7.0 store and read a single press, under the first name.
const [LATEST, EARLIER] = ['walk-sos', 'walk-sos-earlier'] as const
const latest = kept<SosPress | null>(LATEST, null)
const earlier = kept<readonly SosPress[]>(EARLIER, [])
const presses = computed(() => [latest.value ?? [], earlier.value].flat())

const keepPresses = ([first, ...others]: readonly SosPress[]): Promise<unknown> =>
  keepAll(
    [
      [latest as Signal, first ?? null],
      [earlier as Signal, others],
    ],
    'strict',
  )

/** Error of the last attempt, by the time of the press. */
const errors = signal<ReadonlyMap<number, ClientError>>(new Map())
export const sosError = ({ pressedMs }: SosPress): ClientError | null => errors.value.get(pressedMs) ?? null
function noteOutcome(pressedMs: number, error: ClientError | null): void {
  const next = new Map(errors.value)
  if (error === null) next.delete(pressedMs)
  else next.set(pressedMs, error)
  errors.value = next
}

/** With LINE, another person than the walk's pilgrim may be logged in. */
export const isCurrent = ({ userId }: SosPress): boolean =>
  userId === person.value?.userId || userId === ownerNow()

/** Presses whose state is shown, those of the current walk first. */
export function shownPresses(): readonly SosPress[] {
  const nowMs = now()
  return presses.value
    .filter((press) => isShown(press, { isCurrent: isCurrent(press), nowMs }))
    .toSorted((a, b) => Number(isCurrent(b)) - Number(isCurrent(a)))
}

/** Maximum wait for a position before the alert is sent, ms; the service knows the last one. */
const SEARCH_MS = 8_000
const AGAIN_MS = 15_000

/** Whether this phone has a walk for which an SOS can be sent. */
export const canSendSos = (): boolean => person.value !== null && !erasedElsewhere.value

/** Raises an emergency. It replaces an earlier press of the same pilgrim, since both are one emergency. */
export function pressSos(): void {
  const walker = person.value
  const userId = ownerNow()
  if (walker === null || userId === undefined) return
  const named = userId === walker.userId ? { name: walker.name } : {}
  const fix = lastFix.value
  const place = fix !== null && now() - fix.t < RECENT_MS ? placeOf(fix) : null
  const press: SosPress = {
    userId,
    ...named,
    pressedMs: Date.now(),
    place,
    sentMs: null,
    seenMs: null,
  }
  void keepPresses([
    press,
    ...presses.peek().filter((other) => other.userId !== press.userId && other.sentMs === null),
  ])
  void attempt(press, place === null ? findPlace(press) : undefined)
}

async function findPlace(press: SosPress): Promise<void> {
  const found = await within(SEARCH_MS, onePosition())
  if (typeof found !== 'string') change(press, { place: placeOf(found) })
}

const find = ({ pressedMs }: SosPress): SosPress | undefined =>
  presses.peek().find((other) => other.pressedMs === pressedMs)

/** Does nothing if the press was dismissed or replaced meanwhile. */
function change(press: SosPress, more: Partial<SosPress>): void {
  const { pressedMs } = press
  if (find(press) === undefined) return
  void keepPresses(
    presses.peek().map((other) => (other.pressedMs === pressedMs ? { ...other, ...more } : other)),
  )
}

/** Dismisses a press that the service rejects. */
export function forgetSos({ pressedMs }: SosPress): void {
  void keepPresses(presses.peek().filter((other) => other.pressedMs !== pressedMs))
  noteOutcome(pressedMs, null)
}

/**
 * Keeps unsent presses of other walks when the data of the current walk are deleted.
 * @returns the storage keys to keep
 */
export async function keepSosOfOthers(): Promise<readonly string[]> {
  const others = presses.peek().filter((press) => !isCurrent(press) && press.sentMs === null)
  await keepPresses(others)
  return others.length === 0 ? [] : [LATEST, EARLIER]
}

/** Attempts in progress, by the time of the press. */
const underWay = new Map<number, Promise<void>>()

function attempt(press: SosPress, searching: Promise<void> = Promise.resolve()): Promise<void> {
  const { pressedMs } = press
  const begun =
    underWay.get(pressedMs) ??
    searching.then(() => send(find(press) ?? press)).finally(() => underWay.delete(pressedMs))
  underWay.set(pressedMs, begun)
  return begun
}

async function send(press: SosPress): Promise<void> {
  const answer = await client.raiseEmergency(requestOf(press))
  batch(() => {
    noteOutcome(press.pressedMs, answer.ok ? null : answer.error)
    if (answer.ok) {
      const { seen_at: seenAt, alerted } = answer.data
      const seenMs = seenAt === null ? null : Date.parse(seenAt)
      change(press, { sentMs: press.sentMs ?? now(), seenMs, isUnalerted: alerted === false })
    }
  })
  // The log-in is the phone's. Other errors about another walk do not concern the current one.
  if (!answer.ok && (isCurrent(press) || answer.error.code === 'unauthorized')) noteError(answer.error)
}

function requestOf({ userId, pressedMs, place }: SosPress) {
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

/**
 * Sends pending presses, including those of earlier walks on this phone, and asks whether the sent ones were
 * confirmed.
 */
export async function sendSos(): Promise<void> {
  const around = { isHidden: document.hidden, isSignedOut: signInNeeded.value, nowMs: now() }
  const due = presses
    .peek()
    .filter((press) => isDue(press, sosError(press), { ...around, isCurrent: isCurrent(press) }))
  await Promise.all(due.map((press) => attempt(press)))
}

/** Sends presses automatically, including those that an earlier page left unsent. */
export function watchSos(): void {
  // Run at once, and after each log-in.
  signInNeeded.subscribe(() => void sendSos())
  setInterval(() => void sendSos(), AGAIN_MS)
  addEventListener('online', () => void sendSos())
}
