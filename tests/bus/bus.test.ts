/** One suite for both drivers of the bus port, plus faults that only a server can cause. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'nats'
import { type Bus, CONCURRENCY } from '#shared/stores/bus/bus.ts'
import { openBus } from '#shared/stores/bus/open-bus.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { type Server, startNats } from '#tests/helpers/servers.ts'
import { describeOnServers, embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

/** A bus that records errors and deliveries. */
class Member {
  readonly got: number[] = []
  readonly reports: unknown[] = []
  /** How many deliveries are rejected before one is accepted. */
  rejections = 0
  static async open(url: string): Promise<Member> {
    const member = new Member()
    member.#bus = await openBus({ url, onError: (error) => member.reports.push(error) })
    return member
  }
  #bus!: Bus
  get bus(): Bus {
    return this.#bus
  }
  subscribe(subject: string, subscriber: string, delayMs = 0): Promise<void> {
    return this.#bus.subscribe(subject, subscriber, async (id) => {
      if (delayMs > 0) await Bun.sleep(delayMs)
      if (this.rejections-- > 0) throw new Error('not now')
      this.got.push(id)
    })
  }
}

let server: Server | null = null
beforeAll(async () => void (server = embeddedOnly ? null : await startNats()))
afterAll(() => server?.close())

/** A subject that no other test uses. */
const newSubject = () => `event.test.${crypto.randomUUID()}.happened`
const members: Member[] = []
afterEach(async () => void (await Promise.all(members.splice(0).map(({ bus }) => bus.close()))))
async function join(url: string): Promise<Member> {
  const member = await Member.open(url)
  members.push(member)
  if (url !== '') await until(() => member.bus.connected(), 'the bus to connect')
  return member
}

for (const [name, url] of [
  ['embedded', () => ''],
  ['NATS', () => server!.url],
] as const)
  describe.skipIf(embeddedOnly && name === 'NATS')(`bus: ${name}`, () => {
    test('each subscriber receives each event of its subject, and of no other', async () => {
      const member = await join(url())
      const [first, second, other] = [new Member(), new Member(), new Member()]
      const [subject, otherSubject] = [newSubject(), newSubject()]
      for (const [who, to, as] of [
        [first, subject, 'service.first'],
        [second, subject, 'service.second'],
        [other, otherSubject, 'service.first'],
      ] as const)
        await member.bus.subscribe(to, as, async (id) => void who.got.push(id))
      await until(async () => {
        await member.bus.publish(subject, 0)
        return first.got.includes(0) && second.got.includes(0)
      }, 'the subscriptions')
      for (let id = 1; id <= 20; id++) await member.bus.publish(subject, id)
      for (const { got } of [first, second]) {
        await until(() => got.includes(20), 'the last event')
        expect(new Set(got)).toEqual(new Set(Array.from({ length: 21 }, (_, id) => id)))
      }
      expect(other.got).toEqual([])
    })

    test('a closed member finishes its current event, and receives no more', async () => {
      const member = await join(url())
      const subject = newSubject()
      const started = Promise.withResolvers<void>()
      let finished = 0
      await member.bus.subscribe(subject, 'service.slow', async () => {
        started.resolve()
        await Bun.sleep(100)
        finished++
      })
      await member.bus.publish(subject, 1)
      await started.promise
      await member.bus.close()
      expect(finished).toBe(1)
      expect(member.bus.connected()).toBe(false)
    })

    test('a crowd of events is handled a few at a time, and each once', async () => {
      const member = await join(url())
      const subject = newSubject()
      const handled: number[] = []
      let running = 0
      let most = 0
      await member.bus.subscribe(subject, 'service.crowded', async (id) => {
        most = Math.max(most, ++running)
        await Bun.sleep(2)
        running--
        handled.push(id)
      })
      await until(() => member.bus.publish(subject, 0).then(() => true), 'the stream')
      const ids = Array.from({ length: 200 }, (_, i) => i + 1)
      await Promise.all(ids.map((id) => member.bus.publish(subject, id)))
      // The sweep announces events again that have waited for long.
      if (url() === '') await Promise.all(ids.slice(100).map((id) => member.bus.publish(subject, id)))
      await until(() => handled.length > 200, 'the crowd')
      expect(handled.toSorted((a, b) => a - b)).toEqual([0, ...ids])
      expect(most).toBeWithin(2, CONCURRENCY + 1)
    })

    test('a failing subscriber is reported and does not stop others', async () => {
      const member = await join(url())
      const subject = newSubject()
      member.rejections = 1
      await member.subscribe(subject, 'service.failing')
      await member.bus.publish(subject, 1)
      await member.bus.publish(subject, 2)
      await until(() => member.got.includes(2), 'the event behind the failing one')
      expect(member.reports.map(String)).toContain('Error: not now')
    })
  })

describeOnServers('NATS', () => {
  test('delivers events from before the subscriber connected', async () => {
    const member = await join(server!.url)
    const subject = newSubject()
    await member.subscribe(newSubject(), 'service.other')
    await until(() => member.bus.publish(subject, 7).then(() => true), 'the stream')
    await member.subscribe(subject, 'service.late')
    await until(() => member.got.length > 0, 'the delivery')
    expect(member.got).toEqual([7])
  })

  test('a thousand rejected events, as in an outage of Redis, delay no later one', async () => {
    const member = await join(server!.url)
    const subject = newSubject()
    await until(() => member.bus.publish(subject, 0).then(() => true), 'the stream')
    const rejected = 1_000
    for (let id = 1; id <= rejected; id++) void member.bus.publish(subject, id)
    await member.bus.publish(subject, rejected + 1)
    await member.bus.subscribe(subject, 'service.outage', async (id) => {
      if (id <= rejected) throw new Error('not now')
      member.got.push(id)
    })
    await until(() => member.got.length > 0, 'the later event')
    expect(member.reports).toHaveLength(rejected + 1)
  })

  test('two replicas of a subscriber share its events', async () => {
    const [one, other] = [await join(server!.url), await join(server!.url)]
    const subject = newSubject()
    for (const member of [one, other]) await member.subscribe(subject, 'service.shared', 20)
    await until(() => one.bus.publish(subject, 0).then(() => true), 'the stream')
    for (let id = 1; id <= 20; id++) await one.bus.publish(subject, id)
    const all = () => [...one.got, ...other.got]
    await until(() => new Set(all()).size === 21, 'all events')
    expect(all()).toHaveLength(21)
    expect(one.got.length).toBeGreaterThan(3)
    expect(other.got.length).toBeGreaterThan(3)
  })

  test('a slow event does not delay others', async () => {
    const [one, other] = [await join(server!.url), await join(server!.url)]
    const subject = newSubject()
    const held = Promise.withResolvers<void>()
    const got: number[] = []
    for (const { bus } of [one, other])
      await bus.subscribe(subject, 'service.busy', async (id) => {
        if (id === 0) await held.promise
        got.push(id)
      })
    await until(() => one.bus.publish(subject, 0).then(() => true), 'the stream')
    for (let id = 1; id <= 10; id++) await one.bus.publish(subject, id)
    await until(() => got.length === 10, 'the others')
    held.resolve()
    await until(() => got.length === 11, 'the slow one')
    expect(got.at(-1)).toBe(0)
  })

  test('restarted: publishing fails immediately meanwhile, and recovers by itself afterwards', async () => {
    const member = await join(server!.url)
    const subject = newSubject()
    await member.subscribe(subject, 'service.patient')
    await until(() => member.bus.publish(subject, 1).then(() => true), 'the stream')
    await until(() => member.got.includes(1), 'the first event')
    await server!.stop('SIGKILL')
    await until(() => !member.bus.connected(), 'the loss to be noticed')
    expect(String(await rejection(member.bus.publish(subject, 2)))).toContain('not connected')
    await server!.restart()
    await until(() => member.bus.publish(subject, 3).then(() => true), 'the bus to come back')
    await until(() => member.got.includes(3), 'the subscription to come back')
  })

  test('a deleted stream is created again', async () => {
    const member = await join(server!.url)
    const subject = newSubject()
    await member.subscribe(subject, 'service.bereft')
    await until(() => member.bus.publish(subject, 1).then(() => true), 'the stream')
    await until(() => member.got.includes(1), 'the first event')
    await withManager((jsm) => jsm.streams.delete('EVENT'))
    await until(() => member.bus.publish(subject, 2).then(() => true), 'the stream to be made again')
    await until(() => member.got.includes(2), 'the second event')
  })

  test('down at the start: connects later; closed before that, it stops', async () => {
    await server!.stop()
    const early = await Member.open(server!.url)
    const never = await Member.open(server!.url)
    members.push(early)
    const subject = newSubject()
    for (const member of [early, never]) await member.subscribe(subject, 'service.early')
    expect(early.bus.connected()).toBe(false)
    await rejection(early.bus.publish(subject, 1))
    const startedAt = performance.now()
    await never.bus.close()
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    await server!.restart()
    await until(() => early.bus.publish(subject, 2).then(() => true), 'the bus to come up')
    await until(() => early.got.includes(2), 'the subscription')
    expect(never.got).toEqual([])
    expect(early.reports.length).toBeGreaterThan(0)
  })
})

type Manager = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['jetstreamManager']>>
async function withManager(work: (jsm: Manager) => Promise<unknown>): Promise<void> {
  const connection = await connect({ servers: server!.url })
  try {
    await work(await connection.jetstreamManager())
  } finally {
    await connection.close()
  }
}
