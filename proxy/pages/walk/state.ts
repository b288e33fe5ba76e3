/**
 * The app's state, its transitions, and what follows from it. Everything here is data and pure functions;
 * `session/current-state.ts` holds the current state.
 */

/** The pilgrim who walks with this device. */
export interface Person {
  readonly userId: string
  readonly name: string
  /** Version of the privacy notice that the pilgrim agreed to. */
  readonly privacyVersion: string
  /** Whether the service has this name and consent. Until then a `person` entry is queued in the outbox. */
  readonly known: boolean
  /** Language last reported to the service; absent: none since the pilgrim chose one. */
  readonly language?: string
}

export interface State {
  /** Null before the pilgrim has registered. */
  readonly person: Person | null
  /** The pilgrim has withdrawn the consent, on this phone or another one. */
  readonly withdrawn: boolean
  /** The service reports that the pilgrim was erased, from another phone or by the organisers. */
  readonly erased: boolean
  /** The service asks for a new ID token. */
  readonly signedOut: boolean
  /** Status of the event; null before the first configuration. */
  readonly event: 'active' | 'paused' | 'ended' | null
  /** The pilgrim wants to record; survives a reload. */
  readonly recording: boolean
  /** The phone lies still while it records. */
  readonly resting: boolean
  /** The pilgrim is looking for a walk from another phone. */
  readonly restoring: boolean
  /** Stored values are not read yet, so the pilgrim is unknown. */
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

/**
 * All events, with their payload. Events that arrive later name their pilgrim, because another walk may be
 * active by then.
 */
export interface Events {
  /** The stored values were read. */
  opened: null
  /** Name and consent were given on this phone. */
  begun: Person
  /** Another walk was taken over. Everything of the previous one ends. */
  taken: { readonly person: Person; readonly agreed: boolean }
  renamed: Named
  /** The service has another name, set on another phone. */
  nameFound: Named
  /** The service has name and consent of this pilgrim. */
  known: string
  /** The service does not know the pilgrim, for example after a restore. */
  unknown: string
  /** Consent given on this phone; value: version of the notice. */
  agreed: string
  /** Consent withdrawn on this phone. */
  withdrew: null
  /** Consent withdrawn on another phone. */
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

/** State changes of each event. An event that does not concern the state changes nothing. */
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
  // Takes effect at once, before the service has it.
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

/** The app's modes, the most severe first. */
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
  // A walk that was taken over and whose consent this phone does not have.
  'asking-consent': ({ person }) => person?.privacyVersion === '',
  refused: ({ withdrawn }) => withdrawn,
  ended: ({ event }) => event === 'ended',
  paused: ({ event }) => event === 'paused',
  resting: ({ recording, resting }) => recording && resting,
  recording: ({ recording }) => recording,
  walking: () => true,
}

export const modeOf = (state: State): Mode => MODES.find((mode) => IS[mode](state))!

/** Events that lead out of each mode. */
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

/** Whether positions are recorded, in the visible window. */
export const records = ({ person, recording, erased, event }: State): boolean =>
  person !== null && recording && !erased && event !== 'ended'

export type Held = 'erased' | 'unauthorized' | 'forbidden' | 'paused' | 'ended'

/**
 * Why nothing is sent at the moment; null: sending is allowed.
 * @param isPoint check-ins and points, as opposed to profile, consent, reports and the survey
 */
export function whyHeld(state: State, isPoint: boolean): Held | null {
  if (state.erased) return 'erased'
  if (state.signedOut) return 'unauthorized'
  if (!isPoint) return null
  if (state.withdrawn) return 'forbidden'
  return state.event === 'paused' || state.event === 'ended' ? state.event : null
}

/** How often a visible app reads and sends by itself, in milliseconds. Hidden, it reads nothing. */
export interface Cadence {
  /** How long track points are collected before they are sent. */
  readonly collectMs: number
  /** Interval between two reads of the event's configuration. */
  readonly readMs: number
  /** Whether the profile is read with it. */
  readonly readsProfile: boolean
}

const MINUTE_MS = 60_000
/** After a touch, the pilgrim counts as looking for this long. */
export const LOOKS_MS = 2 * MINUTE_MS

/**
 * Intervals of each mode; `tests/tools/bench/app/costs.ts` measures their cost.
 * @param isFollowed followers have an open live link, or the map's arrival times use this phone
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
