/**
 * The app's state, what changes it, and what follows from it. Everything here is data and pure functions;
 * `session/current-state.ts` holds the one current state.
 */

/** The pilgrim who walks with this device. */
export interface Person {
  readonly userId: string
  readonly name: string
  /** Version of the privacy notice that the pilgrim agreed to. */
  readonly privacyVersion: string
  /** The service has name and consent as they are here. Until then an entry `person` waits in the outbox. */
  readonly known: boolean
  /** Language that the service was told; absent: none since the pilgrim chose one. */
  readonly language?: string
}

export interface State {
  /** Null before the first minute is over. */
  readonly person: Person | null
  /** The pilgrim has taken the consent back, with this phone or another one. */
  readonly withdrawn: boolean
  /** The service reports that the pilgrim was erased, from another phone or by the organisers. */
  readonly erased: boolean
  /** The service asks for a new ID token. */
  readonly signedOut: boolean
  /** Status of the event; null before the first configuration. */
  readonly event: 'active' | 'paused' | 'ended' | null
  /** The pilgrim wants to record. It goes on after a reload. */
  readonly recording: boolean
  /** The phone lies still while it records. */
  readonly resting: boolean
  /** The pilgrim looks for a walk of another phone. */
  readonly restoring: boolean
  /** What the device keeps is not read yet: who walks is not known. */
  readonly opening: boolean
}

export const INITIAL: State = {
  person: null,
  withdrawn: false,
  erased: false,
  signedOut: false,
  event: null,
  recording: false,
  resting: false,
  restoring: false,
  opening: true,
}

interface Named {
  readonly userId: string
  readonly name: string
}

/** What may happen, with what it brings. What is learnt later names its pilgrim: another walk may be here by then. */
export interface Events {
  /** What the device keeps was read. */
  opened: null
  /** Name and consent were given on this phone. */
  begun: Person
  /** Another walk was taken over. Nothing of the one before goes on. */
  taken: { readonly person: Person; readonly agreed: boolean }
  renamed: Named
  /** The service has another name, which another phone has given. */
  nameFound: Named
  /** The service has name and consent of this pilgrim. */
  known: string
  /** The service does not know the pilgrim, as after a restore. */
  unknown: string
  /** With this phone, to this version of the notice. */
  agreed: string
  /** The consent is taken back with this phone. */
  withdrew: null
  /** It was taken back with another phone. */
  consentTakenBack: null
  consentFound: null
  erased: null
  notErased: null
  languageTold: { readonly userId: string; readonly language: string }
  signedOut: null
  signedIn: null
  event: 'active' | 'paused' | 'ended'
  recordingStarted: null
  recordingStopped: null
  rests: boolean
  restoring: boolean
}

const ofPerson = ({ person }: State, change: Partial<Person>, userId = person?.userId): Partial<State> =>
  person === null || person.userId !== userId ? {} : { person: { ...person, ...change } }

const WITHOUT_CONSENT = { withdrawn: true, recording: false, resting: false } as const

/** What each event changes. An event that does not concern the state changes nothing. */
export const TRANSITIONS: {
  readonly [E in keyof Events]: (state: State, given: Events[E]) => Partial<State>
} = {
  opened: () => ({ opening: false }),
  begun: (_, person) => ({ person, withdrawn: false, erased: false }),
  taken: (_, { person, agreed }) => ({
    person,
    withdrawn: !agreed,
    erased: false,
    recording: false,
    resting: false,
    restoring: false,
  }),
  renamed: (state, { userId, name }) => ofPerson(state, { name, known: false }, userId),
  nameFound: (state, { userId, name }) => ofPerson(state, { name }, userId),
  known: (state, userId) => ofPerson(state, { known: true }, userId),
  unknown: (state, userId) => ofPerson(state, { known: false }, userId),
  agreed: (state, privacyVersion) => ({
    ...ofPerson(state, { privacyVersion, known: false }),
    withdrawn: false,
  }),
  // At once, also where the service learns it later.
  withdrew: (state) => ({ ...WITHOUT_CONSENT, ...ofPerson(state, { known: false }) }),
  consentTakenBack: () => WITHOUT_CONSENT,
  consentFound: () => ({ withdrawn: false }),
  erased: ({ person }) => (person === null ? {} : { erased: true, resting: false }),
  notErased: () => ({ erased: false }),
  languageTold: (state, { userId, language }) => ofPerson(state, { language }, userId),
  signedOut: () => ({ signedOut: true }),
  signedIn: () => ({ signedOut: false }),
  event: (_, event) => ({ event }),
  recordingStarted: ({ person, withdrawn }) => (person === null || withdrawn ? {} : { recording: true }),
  recordingStopped: () => ({ recording: false, resting: false }),
  rests: ({ recording }, resting) => ({ resting: recording && resting }),
  restoring: (_, restoring) => ({ restoring }),
}

export const after = <E extends keyof Events>(state: State, event: E, given: Events[E]): State => ({
  ...state,
  ...TRANSITIONS[event](state, given),
})

/** What the app is doing, the gravest first. */
export const MODES = [
  'opening',
  'restoring',
  'no-walk',
  'erased',
  'signed-out',
  'asking-consent',
  'refused',
  'ended',
  'paused',
  'resting',
  'recording',
  'walking',
] as const
export type Mode = (typeof MODES)[number]

const IS: Readonly<Record<Mode, (state: State) => boolean>> = {
  opening: ({ opening }) => opening,
  restoring: ({ restoring }) => restoring,
  'no-walk': ({ person }) => person === null,
  erased: ({ erased }) => erased,
  'signed-out': ({ signedOut }) => signedOut,
  // A walk that was taken over, whose consent this phone does not have.
  'asking-consent': ({ person }) => person?.privacyVersion === '',
  refused: ({ withdrawn }) => withdrawn,
  ended: ({ event }) => event === 'ended',
  paused: ({ event }) => event === 'paused',
  resting: ({ recording, resting }) => recording && resting,
  recording: ({ recording }) => recording,
  walking: () => true,
}

export const modeOf = (state: State): Mode => MODES.find((mode) => IS[mode](state))!

/** What leads out of each mode. */
export const EXITS: { readonly [M in Mode]: readonly (keyof Events)[] } = {
  opening: ['opened'],
  restoring: ['restoring', 'taken'],
  'no-walk': ['begun', 'taken', 'restoring'],
  erased: ['notErased', 'taken', 'begun'],
  'signed-out': ['signedIn'],
  'asking-consent': ['agreed', 'taken'],
  refused: ['agreed', 'consentFound', 'taken'],
  ended: ['event', 'taken'],
  paused: ['event', 'taken'],
  resting: ['rests', 'recordingStopped', 'withdrew', 'consentTakenBack'],
  recording: ['rests', 'recordingStopped', 'withdrew', 'consentTakenBack'],
  walking: ['recordingStarted', 'withdrew', 'consentTakenBack'],
}

/** Whether positions are recorded, in the window that is in sight. */
export const records = ({ person, recording, erased, event }: State): boolean =>
  person !== null && recording && !erased && event !== 'ended'

export type Held = 'erased' | 'unauthorized' | 'forbidden' | 'paused' | 'ended'

/** Why nothing is sent at the moment; null: it may. @param isPoint check-ins and points, and not what is told */
export function whyHeld(state: State, isPoint: boolean): Held | null {
  if (state.erased) return 'erased'
  if (state.signedOut) return 'unauthorized'
  if (!isPoint) return null
  if (state.withdrawn) return 'forbidden'
  return state.event === 'paused' || state.event === 'ended' ? state.event : null
}

/** How often an app in sight asks and sends by itself, in milliseconds. Out of sight it asks nothing. */
export interface Cadence {
  /** Track points are collected for this long. */
  readonly collectMs: number
  /** Between two readings of the event's configuration. */
  readonly readMs: number
  /** Whether the profile is read with it. */
  readonly readsProfile: boolean
}

const MINUTE_MS = 60_000
/** A pilgrim who has touched the app looks at it for this long. */
export const LOOKS_MS = 2 * MINUTE_MS

/**
 * The costs of each mode: `tests/tools/bench/app/costs.ts` measures them.
 * @param isFollowed followers look at a live link, or the map's times go by this phone
 * @param isTouched the pilgrim has touched the app within {@link LOOKS_MS}
 */
export function cadenceOf(mode: Mode, isFollowed: boolean, isTouched: boolean): Cadence {
  const collectMs = isFollowed ? 40_000 : mode === 'resting' ? 15 * MINUTE_MS : 6 * MINUTE_MS
  if (mode === 'paused' || mode === 'signed-out')
    return { collectMs, readMs: 2 * MINUTE_MS, readsProfile: false }
  if (isTouched) return { collectMs, readMs: MINUTE_MS, readsProfile: true }
  const readMs =
    mode === 'recording'
      ? 12 * MINUTE_MS
      : mode === 'resting' || mode === 'ended'
        ? 15 * MINUTE_MS
        : 2 * MINUTE_MS
  return { collectMs, readMs, readsProfile: true }
}
