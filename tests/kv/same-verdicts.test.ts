/** The embedded kv is a model of Redis: both return the same for any sequence of calls. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type AdmissionRules,
  type Kv,
  type Pending,
  type Submission,
  SUBMISSION_KINDS,
  userHash,
  type VersionedStatus,
} from '#shared/stores/kv/kv.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { kvDrivers, rules } from './drivers.ts'

type Step =
  | { readonly verb: 'admit' | 'restore'; readonly submissions: readonly Submission[] }
  | { readonly verb: 'acknowledge'; readonly userId: string; readonly share: number; readonly spoil: boolean }
  | { readonly verb: 'setStatus'; readonly status: VersionedStatus }
  | { readonly verb: 'hide'; readonly userId: string; readonly hidden: boolean; readonly refused: boolean }
  | {
      readonly verb: 'erase' | 'storeErasures'
      readonly userId: string
      readonly generation: number
      readonly erasedMs: number
      readonly stands: boolean
    }

const RULES: AdmissionRules = rules({
  checkin: { max: 3, windowMs: 60_000 },
  sync: { max: 4, windowMs: 60_000 },
  ingest: { max: 5, windowMs: 60_000 },
  pendingMax: 8,
})

const userIds = fc.constantFrom('a', 'b:c', 'B@.')
const times = fc.integer({ min: 1, max: 6 })
// JSON and Redis do not distinguish -0 from 0.
const latitudes = fc.double({ min: -90, max: 90, noNaN: true }).map((lat) => lat + 0)
const entriesOf = (kind: string) =>
  fc.record({
    field: times.map((t) => `${kind}${t}`),
    // At one of two places, with or without a time of its own.
    value: fc
      .tuple(fc.constantFrom(0, -1), times, fc.constantFrom(25, 26))
      .map(([offset, t, lat]) => `[${offset},${t},${lat},121,1]`),
  })

const submissions: fc.Arbitrary<Submission> = fc
  .record({
    kind: fc.constantFrom(...SUBMISSION_KINDS),
    // A repeated id is a repeated call.
    id: fc.integer({ min: 0, max: 60 }).map(String),
    userId: userIds,
    checkin: entriesOf('c'),
    track: fc.array(entriesOf('t'), { maxLength: 4 }),
    key: fc.constantFrom('p1,2', 'p3,4', 't5', 't6'),
    recordedMs: times,
    position: fc.option(
      // Around the hour after which a rough place replaces a better one.
      fc.record({
        t: fc.tuple(times, fc.constantFrom(0, 3_600_000)).map(([ms, hour]) => ms + hour),
        lat: latitudes,
        lng: times,
        rough: fc.boolean(),
      }),
    ),
  })
  .map(({ kind, checkin, track, key, ...rest }) => ({
    ...rest,
    ...(kind === 'checkin'
      ? { kind: 'checkin' as const, entries: [checkin, ...track], duplicateKey: key }
      : { kind, entries: track, duplicateKey: '' }),
  }))

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      verb: fc.constant('admit' as const),
      submissions: fc.array(submissions, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constant('restore' as const),
      submissions: fc.array(submissions, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant('acknowledge' as const),
      userId: userIds,
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      spoil: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('hide' as const),
      userId: userIds,
      hidden: fc.boolean(),
      refused: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constantFrom('erase' as const, 'storeErasures' as const),
      userId: userIds,
      generation: times,
      erasedMs: times,
      stands: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('setStatus' as const),
      status: fc.record({
        status: fc.constantFrom('active', 'active', 'paused', 'ended'),
        version: fc.integer({ min: 1, max: 4 }),
        message: fc.constantFrom(null, 'a|b\nc'),
      }),
    }),
  },
)

const byField = (one: { field: string }, other: { field: string }) => (one.field < other.field ? -1 : 1)
const drained = async (kv: Kv): Promise<Pending[]> => {
  const pending = await kv.drain(0, (await kv.pendingUsers(0)).sort())
  return pending.map(({ userId, entries }) => ({ userId, entries: [...entries].sort(byField) }))
}

/** Executes one command, and returns its result without times of the store's clock. */
async function take(kv: Kv, step: Step): Promise<unknown> {
  switch (step.verb) {
    case 'admit': {
      const verdicts = await kv.admit(0, step.submissions, RULES)
      return verdicts.map((verdict) => (verdict.outcome === 'limited' ? verdict.outcome : verdict))
    }
    case 'restore':
      return kv.restore(0, step.submissions, RULES)
    case 'acknowledge': {
      const held = (await kv.peek(step.userId)).sort(byField)
      const stored = held.slice(0, Math.ceil(held.length * step.share))
      const entries = stored.map(({ field, value }) => ({ field, value: step.spoil ? `${value}!` : value }))
      return kv.acknowledge(0, [{ userId: step.userId, entries }])
    }
    case 'hide':
      return kv.hide(step.userId, step.hidden, step.refused)
    case 'storeErasures':
      return kv.storeErasures([{ ...step, userHash: userHash(step.userId) }])
    case 'erase':
      return kv.erase(step.userId, step)
    case 'setStatus':
      return kv.setStatus(step.status)
  }
}

/** The visible state of a store, without its clock and its name. */
async function seen(kv: Kv) {
  const moved = await kv.moved(0, 0, 100)
  return {
    drained: await drained(kv),
    size: await kv.bufferSize(),
    waits: (await kv.oldestPending()) !== null,
    counters: (await kv.counters()).map((counts) => ({
      ...counts,
      epoch: '',
      callers: Object.values(counts.callers),
    })),
    hidden: new Set(await kv.hidden(0)),
    erased: new Map((await kv.erased(0)).map(({ userHash: hash, ...rest }) => [hash, rest])),
    status: await kv.status(),
    places: new Map(
      moved.map(({ userId, t, lat, lng, hiddenUntilMs }) => [
        userId,
        { t, lat, lng, hidden: hiddenUntilMs === Infinity, returns: hiddenUntilMs > 0 },
      ]),
    ),
  }
}

const late = (id: string, duplicateKey: string, ...entries: [field: string, receivedMs: number][]) => ({
  verb: 'admit' as const,
  submissions: [
    {
      id,
      duplicateKey,
      userId: 'b:c',
      recordedMs: 1,
      position: null,
      kind: 'checkin' as const,
      entries: entries.map(([field, receivedMs]) => ({ field, value: `[0,${receivedMs},25,121,1]` })),
    },
  ],
})
/** A track attached to a duplicate check-in and received before an erasure is stored by neither store. */
const LATE_TRACK_OF_A_DUPLICATE = [
  { verb: 'erase' as const, userId: 'b:c', generation: 1, erasedMs: 1, stands: false },
  late('0', 't6', ['c1', 2]),
  late('1', 't6', ['c1', 1], ['t1', 1]),
  late('1', 't5', ['c1', 2]),
  late('0', 't5', ['c1', 1]),
]

describeOnServers('the same verdicts', () => {
  const [embedded, redis] = kvDrivers()
  beforeAll(() => Promise.all([embedded!.start(), redis!.start()]))
  afterAll(() => Promise.all([embedded!.stop(), redis!.stop()]))
  let stores: Kv[] = []
  const close = async () => void (await Promise.all(stores.map((kv) => kv.close())))
  beforeEach(async () => void (stores = []))
  afterEach(close)

  test('of the embedded kv and of Redis, for any sequence of submissions', async () => {
    await fc.assert(
      fc
        .asyncProperty(fc.array(steps, { minLength: 1, maxLength: 25 }), async (sequence) => {
          stores = await Promise.all([embedded!.open(), redis!.open()])
          await Promise.all(stores.map((kv) => kv.setStatus({ status: 'active', version: 1, message: null })))
          for (const step of sequence) {
            const [one, other] = await Promise.all(stores.map((kv) => take(kv, step)))
            expect(other).toEqual(one)
          }
          const [one, other] = await Promise.all(stores.map(seen))
          expect(other).toEqual(one)
        })
        .afterEach(close),
      { numRuns: 100, examples: [[LATE_TRACK_OF_A_DUPLICATE]] },
    )
  })
})
