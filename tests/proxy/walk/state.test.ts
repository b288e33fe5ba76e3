/** The app's states: each has a way out, and no event leads to a contradictory state. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  after,
  cadenceOf,
  type Events,
  EXITS,
  INITIAL,
  type Mode,
  modeOf,
  MODES,
  type Person,
  records,
  type State,
  TRANSITIONS,
  whyHeld,
} from '#proxy/pages/walk/state.ts'

const ANN: Person = { userId: 'ann', name: 'Ann', privacyVersion: '1', known: true }
const BEN: Person = { userId: 'ben', name: 'Ben', privacyVersion: '', known: true }

/** Payloads of each event. */
const GIVEN: { readonly [E in keyof Events]: fc.Arbitrary<Events[E]> } = {
  opened: fc.constant(null),
  begun: fc.constant(ANN),
  taken: fc.record({ person: fc.constantFrom(ANN, BEN), agreed: fc.boolean() }),
  renamed: fc.record({ userId: fc.constantFrom('ann', 'ben'), name: fc.constant('Anna') }),
  nameFound: fc.record({ userId: fc.constantFrom('ann', 'ben'), name: fc.constant('Anne') }),
  known: fc.constantFrom('ann', 'ben'),
  unknown: fc.constantFrom('ann', 'ben'),
  agreed: fc.constant('2'),
  withdrew: fc.constant(null),
  consentTakenBack: fc.constant(null),
  consentFound: fc.constant(null),
  erased: fc.constant(null),
  notErased: fc.constant(null),
  languageTold: fc.record({ userId: fc.constantFrom('ann', 'ben'), language: fc.constant('en') }),
  signedOut: fc.constant(null),
  signedIn: fc.constant(null),
  event: fc.constantFrom('active', 'paused', 'ended'),
  recordingStarted: fc.constant(null),
  recordingStopped: fc.constant(null),
  rests: fc.boolean(),
  restoring: fc.boolean(),
}
const NAMES = Object.keys(GIVEN) as (keyof Events)[]
const aStep = fc.constantFrom(...NAMES).chain((name) => fc.tuple(fc.constant(name), GIVEN[name]))
type Step = readonly [keyof Events, Events[keyof Events]]

/** Starts of a walk, so that states behind several events are reached often. */
const BEGINNING: readonly Step[] = [
  ['opened', null],
  ['begun', ANN],
  ['recordingStarted', null],
  ['rests', true],
]
const aWalk = fc
  .tuple(fc.nat(BEGINNING.length), fc.array(aStep, { maxLength: 12 }))
  .map(([begun, steps]) => [...BEGINNING.slice(0, begun), ...steps])

const walked = (steps: readonly Step[]): State =>
  steps.reduce((state, [name, given]) => after(state, name, given as never), INITIAL)

test('every event has a transition, every mode its ways out, and both lists are complete', () => {
  expect(Object.keys(TRANSITIONS).sort()).toEqual([...NAMES].sort())
  expect(Object.keys(EXITS).sort()).toEqual([...MODES].sort())
})

test('whatever happens, each mode is left by what its list names, and each is reached', () => {
  const reached = new Set<Mode>()
  fc.assert(
    fc.property(aWalk, (steps) => {
      const state = walked(steps)
      const mode = modeOf(state)
      reached.add(mode)
      const samples = EXITS[mode].flatMap((name) =>
        fc
          .sample(GIVEN[name] as fc.Arbitrary<unknown>, 12)
          .map((given) => after(state, name, given as never)),
      )
      expect(samples.some((next) => modeOf(next) !== mode)).toBe(true)
      expect(state.resting && !state.recording).toBe(false)
      expect(state.recording && (state.withdrawn || state.person === null)).toBe(false)
      expect(records(state) && (state.event === 'ended' || state.erased)).toBe(false)
    }),
    { numRuns: 600 },
  )
  expect([...reached].sort()).toEqual([...MODES].sort())
})

test('what is learnt of a walk after another one was taken over changes nothing', () => {
  const ann = after(walked(BEGINNING), 'taken', { person: BEN, agreed: true })
  const late = [
    ['renamed', { userId: 'ann', name: 'Anna' }],
    ['nameFound', { userId: 'ann', name: 'Anne' }],
    ['languageTold', { userId: 'ann', language: 'en' }],
    ['known', 'ann'],
    ['unknown', 'ann'],
  ] as const satisfies readonly Step[]
  for (const [name, given] of late) expect(after(ann, name, given as never)).toEqual(ann)
})

test('a walk that is taken over begins clean', () => {
  fc.assert(
    fc.property(aWalk, (steps) => {
      const state = after(walked(steps), 'taken', { person: BEN, agreed: true })
      expect(state).toMatchObject({ person: BEN, recording: false, resting: false, erased: false })
    }),
  )
})

test.each([
  [{}, null, null],
  [{ withdrawn: true }, 'forbidden', null],
  [{ event: 'paused' }, 'paused', null],
  [{ event: 'ended' }, 'ended', null],
  [{ signedOut: true, event: 'paused' }, 'unauthorized', 'unauthorized'],
  [{ erased: true, signedOut: true }, 'erased', 'erased'],
] as const)('%p holds points as %p and the rest as %p', (change, point, rest) => {
  const state = { ...INITIAL, person: ANN, ...change }
  expect([whyHeld(state, true), whyHeld(state, false)]).toEqual([point, rest])
})

test('a pilgrim who looks at the app sees what is at most a minute old, unless nothing can change', () => {
  for (const mode of MODES) {
    const { readMs } = cadenceOf(mode, false, true)
    expect(readMs).toBe(mode === 'paused' || mode === 'signed-out' ? 120_000 : 60_000)
  }
})
