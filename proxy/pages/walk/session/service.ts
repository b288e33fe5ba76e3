/** The service as this app uses it: a client with the pilgrim's identity, and its answers. */
import { computed, signal } from '@preact/signals'
import {
  type Answer,
  type Client,
  type ClientError,
  createClient,
  type Data,
  type Failure,
} from '#shared/client/index.ts'
import { figureRead, tallyOf } from '../checkin/tally.ts'
import { levelNames } from '#shared/core/rules/levels.ts'
import { language, offerLanguages } from '../../frame/language.ts'
import { words } from '../words.ts'
import { lineToken, lineTokenNow, lineUserId, logInAgain } from './line-login.ts'
import { noteClock, now } from './clock.ts'
import { keep, kept, valueOfWalk } from './stored-signals.ts'
import { change, consentWithdrawn, erasedElsewhere, person } from './current-state.ts'
import { LOOKS_MS, type Person } from '../state.ts'

/** Fields that a configuration stored by an older release lacks. */
type Newer = 'names' | 'followed' | 'level_names' | 'notice' | 'survey_version' | 'rehearsal'
type EventConfig = Omit<Data<'readEventConfig'>, Newer> & Partial<Pick<Data<'readEventConfig'>, Newer>>
export type Profile = Data<'readProfile'>

/** The last known configuration, which a start without a network uses. Null before the first one. */
export const config = kept<EventConfig | null>('walk-config', null)
export const profile = kept<Profile | null>('walk-profile', null)
/** Check-ins counted by the service. */
export const tally = kept('walk-tally', tallyOf(0))
/** End of the pilgrim's last live link, in epoch milliseconds. */
export const liveUntilMs = valueOfWalk(0, 'walk-live-until')

/** Whether others follow this phone's position: a live link is open, or it is the palanquin. */
export const isFollowed = (): boolean => liveUntilMs.peek() > now() || profile.peek()?.palanquin === true

/** Error of the last refresh; null: it succeeded. */
const refreshError = signal<ClientError | null>(null)

/** Incremented after each successful read: the service is reachable. */
export const answered = signal(0)

let touchedMs = Date.now()
/** The pilgrim has touched the app or returned to it. */
export const noteTouch = (): void => void (touchedMs = Date.now())
/** Whether the pilgrim is looking at the app. */
export const readOften = (): boolean => Math.abs(Date.now() - touchedMs) < LOOKS_MS

// The stored configuration, and each later one, including those of other windows.
config.subscribe((event) => {
  if (event === null) return
  offerLanguages(event)
  // Temporarily unknown: keep the previous status.
  if (event.status !== null) change('event', event.status)
})

/** The name of a level in this event. */
export const levelName = (level: number): string =>
  levelNames(
    config.value?.level_names ?? null,
    words.value.levels,
    language.value,
    config.value?.language ?? language.value,
  )[level - 1]!

export const hasEnded = (): boolean => config.value?.status === 'ended'

export const usesLine = computed(() => config.value?.identity === 'line')

/** The pilgrim of each call; with LINE, the logged-in account. */
async function identity(): Promise<{ userId: string; idToken?: string } | undefined> {
  if (!usesLine.value) return person.value === null ? undefined : { userId: person.value.userId }
  const idToken = await lineToken(config.value?.liff_id ?? null)
  const userId = idToken === null ? person.value?.userId : (lineUserId(idToken) ?? undefined)
  if (userId === undefined) return undefined
  return idToken === null ? { userId } : { userId, idToken }
}

/** The owner of recorded points as far as the device knows: a point does not wait for LINE. */
export function ownerNow(): string | undefined {
  const idToken = usesLine.value ? lineTokenNow() : null
  return (idToken === null ? null : lineUserId(idToken)) ?? person.value?.userId
}

export async function owner(): Promise<{ userId: string } | undefined> {
  const userId = ownerNow()
  return userId === undefined ? undefined : { userId }
}

const TIMEOUT_MS = 20_000

/** Operations allowed for a pilgrim who was erased elsewhere: reads, and the erasure of the rest. */
const OF_ERASED = new Set(['readEventConfig', 'readEventNotice', 'readRoute', 'readProfile', 'eraseOwnData'])
/** Operations that need the consent. */
const BY_CONSENT = new Set(['checkIn', 'syncTrack'])
const ERASED: ClientError = { code: 'erased', status: 410, message: 'The pilgrim was deleted.' }
const NO_CONSENT: ClientError = { code: 'forbidden', status: 403, message: 'The consent was taken back.' }

/** Checks every outgoing call. @returns why it is not sent; null: it may be sent */
async function whyNotSent(operation: string, userId: string | undefined): Promise<Failure | null> {
  const error = erasedElsewhere.value
    ? !OF_ERASED.has(operation) && ERASED
    : consentWithdrawn.value && BY_CONSENT.has(operation) && NO_CONSENT
  if (!error) return null
  // With LINE, another account may have logged in.
  const whose = userId ?? (await owner())?.userId
  return whose === person.value?.userId ? { ok: false, error } : null
}

/** Another walk was taken over, or everything was erased, before the response arrived. */
const WALK_IS_OVER: Failure = {
  ok: false,
  error: { code: 'aborted', status: 0, message: 'Another walk is on this phone.' },
}

type Call = (...given: unknown[]) => Promise<unknown>

/**
 * The client of the whole app: each call passes the check, and the response for one walk never reaches
 * another. An SOS is the exception: its response belongs to the press.
 */
export const client = new Proxy(createClient({ baseUrl: '', identity, timeoutMs: TIMEOUT_MS }), {
  get(all, name: keyof Client) {
    const call = all[name] as Call
    if (name === 'identity') return call
    return async (...given: unknown[]) => {
      const [operation, input] = name === 'download' ? given : [name, given[0]]
      const userId = (input as { user_id?: string } | undefined)?.user_id
      const walk = person.peek()?.userId
      const answer = (await whyNotSent(operation as string, userId)) ?? (await call(...given))
      const isOver = walk !== undefined && walk !== person.peek()?.userId && name !== 'raiseEmergency'
      return isOver ? WALK_IS_OVER : answer
    }
  },
})

/** Handles an error that concerns the whole app. */
export function noteError(error: ClientError): void {
  if (error.code === 'unauthorized') {
    signedOutWith = lineTokenNow() ?? ''
    change('signedOut', null)
  }
  const isNotActive = error.code === 'paused' || error.code === 'ended'
  if (isNotActive && config.value?.status !== error.code) void refreshConfig()
  if (error.code === 'erased') void noteErased()
  // The consent may have been withdrawn on another phone.
  if (error.code === 'forbidden' && !consentWithdrawn.value) void refreshProfile(true)
}

/** Sequence numbers of configuration requests. */
let configAsked = 0
let configTaken = 0

/**
 * Reads the configuration and compares the clocks. The response of an earlier request never replaces that of
 * a later one.
 */
export async function refreshConfig(): Promise<void> {
  const order = ++configAsked
  const sentAt = Date.now()
  const answer = await client.readEventConfig()
  if (order < configTaken) return
  refreshError.value = answer.ok ? null : answer.error
  if (!answer.ok) return
  configTaken = order
  const tookMs = Date.now() - sentAt
  // The response was written between both times. A phone that slept meanwhile would measure its sleep.
  if (tookMs >= 0 && tookMs <= TIMEOUT_MS) noteClock(sentAt + tookMs / 2 - Date.parse(answer.data.as_of))
  keep(config, answer.data)
  // Another window, or LINE's own browser, may have a new token. With open identity there is none to wait
  // for.
  if (answer.data.identity !== 'line' || signedOutWith !== lineTokenNow()) noteSignIn()
  answered.value++
}

/** The token that the service rejected. */
let signedOutWith: string | null = null
/**
 * Lets the next request through: there is another token, or the pilgrim asked for it. A rejection ends it
 * again.
 */
export function noteSignIn(): void {
  if (signedOutWith === null) return
  signedOutWith = null
  change('signedIn', null)
}

/**
 * Redirects to LINE's log-in, but only with a network: otherwise the pilgrim would get an empty page, and
 * nothing would be recorded.
 * @returns whether there is a network
 */
export async function signInAgain(): Promise<boolean> {
  await refreshConfig()
  if (refreshError.value !== null) return false
  await logInAgain(config.value?.liff_id ?? null)
  return true
}

/** Sequence numbers of profile requests: an earlier response never replaces a later one. */
let lastAsked = 0
let lastTaken = 0

/** Invalidates pending reads after a change of the profile. Read it again. */
export const profileChanged = (): void => void (lastTaken = lastAsked)

/**
 * @param isRefused the service rejected a request because the consent is missing
 * @returns the answer; null if there is no pilgrim or the answer was outdated on arrival
 */
export async function refreshProfile(isRefused = false): Promise<Answer<Profile> | null> {
  const asked = person.value
  if (asked === null) return null
  const [order, before] = [++lastAsked, tally.value]
  const answer = await client.readProfile({ userId: asked.userId })
  if (order <= lastTaken) return null
  if (answer.ok || answer.error.code === 'not-found') lastTaken = order
  if (answer.ok) {
    keep(tally, figureRead(tally.value, before, answer.data.checkins))
    noteConsent(answer.data, isRefused)
    keep(profile, answer.data)
    noteName(answer.data)
    answered.value++
    // A rejected profile read must not trigger another one.
  } else if (answer.error.code !== 'forbidden') noteError(answer.error)
  noteFound(asked, answer)
  return answer
}

/**
 * A consent that the service no longer has was withdrawn, even if this phone never read it but the service
 * rejects requests for it. A consent that the service never had may still be queued, and a profile without a
 * name was created by a point after an erasure.
 */
function noteConsent(
  { userId, privacy_agreed: agrees, display_name: name }: Profile,
  isRefused: boolean,
): void {
  // The choice made on this phone is still queued.
  if (person.peek()?.known === false) return
  const had = profile.value?.userId === userId && profile.value.privacy_agreed
  if (agrees) change('consentFound', null)
  else if ((had || isRefused) && name !== null) change('consentTakenBack', null)
}

/** The name may have been changed on another phone. A queued change takes precedence. */
function noteName({ userId, display_name: name }: Profile): void {
  const own = person.peek()
  if (own?.userId === userId && own.known && name !== null && name !== own.name)
    change('nameFound', { userId, name })
}

/**
 * If the service does not know the pilgrim, for example after a restored backup, they are registered again
 * (`introduce`), which it rejects for an erased pilgrim. Points sent before may have created a profile
 * without name and consent.
 */
function noteFound(asked: Person, answer: Answer<Profile>): void {
  if (answer.ok) change('notErased', null)
  const isUnknown = answer.ok
    ? asked.name !== '' && answer.data.display_name === null && !answer.data.privacy_agreed
    : answer.error.code === 'not-found'
  if (isUnknown && asked.known) change('unknown', asked.userId)
}

/**
 * The service rejected a request because this pilgrim was erased. With LINE, another account may have logged
 * in.
 */
async function noteErased(): Promise<void> {
  const refused = person.value
  if (refused !== null && (await owner())?.userId === refused.userId) change('erased', null)
}
