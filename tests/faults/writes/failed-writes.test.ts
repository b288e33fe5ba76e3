/**
 * A store fails at each step of each write: it rejects a command, is cut off after executing one, responds
 * too late, or its disk is full. An error response leaves either no change or the complete change, as if only the response were
 * lost; then the same request succeeds and changes nothing twice. A success response leaves the complete
 * change.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Endpoint } from '#shared/contracts/endpoint.ts'
import type { MessageFault } from '#tests/helpers/tcp-proxy.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  differences,
  type EveryWrite,
  openEveryWrite,
  type Snapshot,
  type StoreName,
  WRITES,
} from './every-write.ts'

/** Longer than the timeout of Redis's commands. */
const LATE_MS = 1_200
const FAULTS: readonly (readonly [StoreName, MessageFault])[] = [
  ['postgres', { how: 'refused' }],
  ['postgres', { how: 'cut' }],
  ['disk', { how: 'refused' }],
  ['redis', { how: 'refused' }],
  ['redis', { how: 'cut' }],
  ['redis', { how: 'late', byMs: LATE_MS }],
  ['nats', { how: 'refused' }],
  ['nats', { how: 'cut' }],
  ['objects', { how: 'refused' }],
  ['objects', { how: 'cut' }],
]
/** More steps than any write has. */
const MOST_STEPS = 80

/** Requests that create something new each time: repeated after a lost response, they create it twice. */
const MAKE_ANEW: Readonly<Record<string, string>> = {
  submitSurvey: 'a revision',
  submitSurveyAlias: 'a revision',
  submitFeedback: 'a report, where the client names none by `report_id`',
  createTracker: 'a tracker, whose key is shown once',
  makeToken: 'a token',
  uploadScreenshot: 'a picture with a name of its own, which goes after a week',
  setPrivacy: 'a line in the history of consents, each with its time',
}

/** Writes whose steps are not tested yet. Do not add new endpoints. */
const UNTRIED: readonly string[] = [
  // It only begins a restart, and is refused where the service is several processes.
  'resetRehearsal',
  'endActivity',
  'eraseOwnData',
  'eraseUser',
  'forceFlush',
  'sendPush',
]

/** Writes that a client may repeat while the first response is late. */
const REPEATED: readonly string[] = ['checkIn', 'syncTrack', 'setPhone', 'createShare']

/** Tested by `bun run test`; the others are long. */
const SLICE: readonly string[] = ['checkIn', 'setPhone']

describeOnServers('a write whose store fails', () => {
  let all: EveryWrite
  beforeAll(async () => void (all = await openEveryWrite()))
  afterAll(() => all?.close())

  const isLike = async (wanted: Snapshot) => differences(wanted, await all.snapshot()).length === 0
  const becomes = (wanted: Snapshot, timeoutMs: number) =>
    until(() => isLike(wanted), 'the state', { timeoutMs, everyMs: 20 }).then(
      () => true,
      () => false,
    )

  /** @returns the fault, or null; undefined: the request has no such step */
  async function failAt(
    endpoint: Endpoint,
    store: StoreName,
    fault: MessageFault,
    step: number,
    [before, after]: readonly [Snapshot, Snapshot],
  ): Promise<string | null | undefined> {
    await all.reset(endpoint)
    await all.proxies[store].set({ kind: 'fault', after: step, ...fault })
    const answer = await all.send(endpoint)
    const met = (await all.proxies[store].messages) > step
    await answer.text()
    await all.mend()
    if (!met) return undefined
    const told = `${store} ${fault.how} at ${step}: ${answer.status}`
    if (answer.ok) {
      if (await becomes(after, 1_000)) return null
      if (await all.settle(endpoint, () => isLike(after))) return null
      return `${told} leaves\n${differences(after, await all.snapshot()).join('\n')}`
    }
    const isWhole = async () => (await isLike(before)) || (await isLike(after))
    if (
      !(await until(isWhole, 'all or nothing', { timeoutMs: 500 }).then(
        () => true,
        () => false,
      ))
    )
      if (!(await all.settle(endpoint, isWhole)))
        return `${told} leaves\n${differences(before, await all.snapshot()).join('\n')}`
    const isDone = await isLike(after)
    if (isDone && Object.hasOwn(MAKE_ANEW, endpoint.id)) return null
    const again = await all.send(endpoint)
    const text = await again.text()
    const repeated = `${told}; repeated: ${again.status}`
    // Something already deleted or created is reported as such.
    if (!again.ok && !(isDone && again.status < 500)) return `${repeated} ${text}`
    if ((await becomes(after, 1_000)) || (await all.settle(endpoint, () => isLike(after)))) return null
    return `${repeated} leaves\n${differences(after, await all.snapshot()).join('\n')}`
  }

  const cases = WRITES.filter(({ id }) => !UNTRIED.includes(id)).map(
    (endpoint) => [`${endpoint.id}${SLICE.includes(endpoint.id) ? '' : ' (long)'}`, endpoint] as const,
  )
  test.each(cases)(
    'does all or nothing: %s',
    async (_, endpoint) => {
      await all.reset(endpoint)
      const both = await all.watch(endpoint)
      const wrong: string[] = []
      for (const [store, fault] of FAULTS)
        for (let step = 0; step < MOST_STEPS; step++) {
          const found = await failAt(endpoint, store, fault, step, both)
          if (found === undefined) break
          if (found !== null) wrong.push(found)
        }
      expect(wrong).toEqual([])
    },
    600_000,
  )

  test.each(
    WRITES.filter(({ id }) => REPEATED.includes(id)).map((endpoint) => [endpoint.id, endpoint] as const),
  )(
    'changes nothing twice when repeated while the first response is late: %s (long)',
    async (_, endpoint) => {
      await all.reset(endpoint)
      const [, after] = await all.watch(endpoint)
      const wrong: string[] = []
      for (const store of ['postgres', 'redis'] as const)
        for (let step = 0; step < MOST_STEPS; step++) {
          await all.reset(endpoint)
          const proxy = all.proxies[store]
          await proxy.set({ kind: 'fault', after: step, how: 'late', byMs: LATE_MS })
          const first = all.send(endpoint)
          let isOver = false
          void first.then(() => (isOver = true))
          await until(() => isOver || Number(proxy.messages) > step, 'the step', { everyMs: 2 })
          if (Number(proxy.messages) <= step) break
          const responses = await Promise.all([first, all.send(endpoint)])
          for (const response of responses) await response.text()
          await all.mend()
          const told = `${store} late at ${step}: ${responses.map(({ status }) => status).join()}`
          if (responses.some(({ status }) => status >= 500 && status !== 503)) wrong.push(told)
          if (!(await becomes(after, 1_000)) && !(await all.settle(endpoint, () => isLike(after))))
            wrong.push(`${told} leaves\n${differences(after, await all.snapshot()).join('\n')}`)
        }
      expect(wrong).toEqual([])
    },
    600_000,
  )
})
