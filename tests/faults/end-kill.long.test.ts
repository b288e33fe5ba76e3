/**
 * The end of the event survives kill -9 of every service at every step. A normal run has a few kills in one end.
 * FAULTS=long has one end for each step and service, in which the locks of killed processes expire by themselves.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Redis from 'ioredis'
import postgres from 'postgres'
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import { type Activity, endActivityEndpoint, readStatusEndpoint } from '#shared/contracts/operations.ts'
import { SUBSCRIBERS } from '#shared/contracts/events.ts'
import { dataOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { post } from '#tests/helpers/pilgrim.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { until } from '#tests/helpers/wait.ts'
import { admin, checkIn, healthOf, readAs } from '#tests/helpers/test-stack.ts'
import { openRealTestStack, type RealTestStack } from '#tests/helpers/test-stack-real.ts'

/** Steps of the end, in order. A service is killed when a step has been reached. */
const STEPS = ['asked', 'committed', 'spread', 'flushed', 'first-card', 'planned', 'first-message'] as const
type Step = (typeof STEPS)[number]
const KILLED = ['admin', 'scheduler', 'feedback-media', 'line-bot', 'tracking'] as const
type Killed = (typeof KILLED)[number] & ServiceName

interface Kill {
  readonly step: Step
  readonly service: Killed
}

interface EndHarness {
  /**
   * Lets pilgrims walk, ends the event, and kills services meanwhile. Checks that everything was done once.
   * @param patient whether locks of killed processes expire by themselves
   */
  endUnder(kills: readonly Kill[], patient: boolean): Promise<void>
  close(): Promise<void>
}

/** Pilgrims who get an achievement card, and others. */
const ACHIEVERS = 5
const WALKERS = 15
/** Timeout: a lock on the flush lasts 90 s. */
const DONE_MS = 200_000
const HOUR_MS = 3_600_000
/** Locks that a killed process may leave. */
const LOCKS = ['lock:flush:0', 'lock:draw-cards', 'lock:line-sender']

async function openEndHarness(): Promise<EndHarness> {
  const line = startLineServer()
  const objects = await newDirectory('objects')
  const stack = await openRealTestStack({
    settings: { ...lineSettings(line), OBJECTS_URL: `file:${objects}`, EVENT_FLUSH_SECONDS: '10' },
  })
  const sql = postgres(stack.databaseUrl, { max: 2, onnotice: () => undefined })
  const redis = new Redis(stack.redisUrl)
  let people = 0

  /** The time at which each stored card was written. */
  const cards = (): Map<string, number> => {
    const folder = join(objects, 'cards')
    if (!existsSync(folder)) return new Map()
    // A kill may leave a temporary file.
    const files = readdirSync(folder).filter((file) => !file.endsWith('.tmp'))
    return new Map(files.map((file) => [file, statSync(join(folder, file)).mtimeMs]))
  }
  const reached: Record<Step, () => Promise<boolean>> = {
    asked: async () => true,
    committed: async () => (await sql`SELECT FROM activity WHERE status = 'ended'`).length > 0,
    spread: async () => (await redis.get('{gps:0}:status'))?.includes('|ended|') === true,
    flushed: async () => (await sql`SELECT FROM ending WHERE flushed_at IS NOT NULL`).length > 0,
    'first-card': async () => cards().size > 0,
    planned: async () => (await sql`SELECT FROM messages WHERE cause = 'summary'`).length > 0,
    'first-message': async () => line.received.size > 0,
  }
  const readActivity = async (): Promise<Activity> =>
    dataOf(await readAs(stack, 'volunteer', 'admin/status'), readStatusEndpoint)

  /** A pilgrim with check-ins of some hours. Different languages make several calls of the summary. */
  const walk = async (checkins: number): Promise<string> => {
    const userId = lineUser(0xe000 + ++people)
    const language = ['zh-TW', 'en', 'ja', 'zh-CN'][people % 4]!
    for (let i = 0; i < checkins; i++) {
      const fields = { timestamp: Date.now() - (i + 1) * HOUR_MS, lng: 120.67 + i * 0.05 }
      // Like a phone: repeated after Retry-After.
      await until(
        async () => (await checkIn(stack, userId, fields)).status === 202,
        'a check-in to be accepted',
        { everyMs: 1_000 },
      )
    }
    await post(stack, 'user/sync', { user_id: userId, language })
    return userId
  }
  const achieve = async (): Promise<string> => {
    const userId = await walk(3)
    await post(stack, 'submit', { user_id: userId, survey: { q1: 'yes' } })
    await post(stack, 'user/phone', { user_id: userId, phone: '0912345678' })
    return userId
  }

  /** Resets the event. Only a test reopens an ended event. */
  const reopen = async (): Promise<void> => {
    await sql`TRUNCATE ending, outbox, handled, messages, message_chunks, share_cards, pilgrims, surveys,
      survey_history, gps_points, pilgrim_totals, pilgrim_days, followers`
    await sql`UPDATE activity SET status = 'active', version = version + 1`
    // The next request reads the status from the database.
    await redis.del('{gps:0}:status')
    await Bun.$`rm -rf ${join(objects, 'cards')}`.quiet()
    line.received.clear()
  }

  /** An operator who retries until the end is answered. */
  const end = async (): Promise<void> => {
    await until(
      async () => {
        const headers = admin('manager')
        const answer = await stack.fetch('/api/event/admin/end-activity', { method: 'POST', headers })
        return (await dataOf(answer, endActivityEndpoint)).status === 'ended'
      },
      'the end to be answered',
      { timeoutMs: 120_000, everyMs: 200 },
    )
  }

  /** Phones that send check-ins until they get `ended`. @returns pilgrims with a 202 */
  const goOn = async (): Promise<string[]> => {
    const accepted: string[] = []
    await until(
      async () => {
        const userId = lineUser(0xe000 + ++people)
        const answer = await checkIn(stack, userId)
        if (answer.status === 202) accepted.push(userId)
        else if (answer.status !== 403 && answer.status !== 503) throw new Error(`answered ${answer.status}`)
        return answer.status === 403
      },
      'phones to get the end',
      { timeoutMs: 120_000, everyMs: 10 },
    )
    return accepted
  }

  const kill = async ({ step, service }: Kill, patient: boolean): Promise<Map<string, number>> => {
    await until(reached[step], `the step ${step}`, { timeoutMs: DONE_MS, everyMs: 5 })
    await stack.service(service).stop('SIGKILL')
    const drawn = cards()
    if (!patient) await redis.del(LOCKS)
    await stack.service(service).restart()
    return drawn
  }

  const expectDone = async (walkers: readonly string[], achievers: readonly string[]): Promise<void> => {
    await until(
      async () => {
        const { status, ending } = await readActivity()
        if (status !== 'ended' || ending?.flush !== 'done' || ending.summary !== 'sent') return false
        return ending.cards.done === achievers.length && ending.cards.total === achievers.length
      },
      `the end, with ${achievers.length} cards`,
      { timeoutMs: DONE_MS, everyMs: 200 },
    )
    await until(async () => (await healthOf(stack)).buffer_size === 0, 'the last points', {
      timeoutMs: 30_000,
    })
    const known = [...walkers, ...achievers]
    const stored = await sql<{ user_id: string }[]>`SELECT DISTINCT user_id FROM gps_points`
    const missing = new Set(known).difference(new Set(stored.map((row) => row.user_id)))
    if (missing.size > 0) throw new Error(`check-ins of ${missing.size} pilgrims are not stored`)
    const subscribers = Object.entries(SUBSCRIBERS).flatMap(([name, subjects]) =>
      (subjects as readonly string[]).includes('event.admin.activity.ended') ? [name] : [],
    )
    await until(
      async () => {
        const rows = await sql<{ subscriber: string }[]>`
          SELECT subscriber FROM handled JOIN outbox ON id = event_id WHERE subject = 'event.admin.activity.ended'`
        return new Set(rows.map(({ subscriber }) => subscriber)).size === subscribers.length
      },
      'every subscriber to have handled the end',
      { timeoutMs: 60_000, everyMs: 200 },
    )
  }

  return {
    async endUnder(kills, patient) {
      await reopen()
      const achievers = await Promise.all(Array.from({ length: ACHIEVERS }, achieve))
      const walkers = await Promise.all(Array.from({ length: WALKERS }, () => walk(1)))
      const late = goOn()
      const ended = end()
      const drawn: Map<string, number>[] = []
      for (const one of kills) drawn.push(await kill(one, patient))
      await ended
      const latecomers = await late
      await expectDone([...walkers, ...latecomers], achievers)

      // A card stored before a kill is drawn again only when the kill prevented its record.
      const all = cards()
      // The previous end may have drawn its last card after the event was reopened.
      const mine = achievers.filter((userId) =>
        [...all.keys()].some((file) => file.toLowerCase().includes(userId.toLowerCase())),
      )
      if (mine.length !== achievers.length)
        throw new Error(`these cards are stored: ${[...all.keys()].join(', ')}`)
      for (const before of drawn) {
        const again = [...before].filter(([file, at]) => all.get(file) !== at)
        if (again.length > 1) throw new Error(`${again.length} cards were drawn twice`)
      }
      const summaries = [...walkers, ...achievers].map((userId) => line.received.get(userId) ?? 0)
      if (summaries.some((times) => times !== 1))
        throw new Error(`the summary reached people ${summaries.join(', ')} times`)
      const often = [...line.received.values()].filter((times) => times > 1)
      if (often.length > 0) throw new Error(`the summary reached ${often.length} people more than once`)
      for (const replica of [0, 1]) await expectClosed(stack, replica)
    },
    async close() {
      redis.disconnect()
      await sql.end({ timeout: 1 })
      await stack.close()
      await line.stop()
    },
  }
}

async function expectClosed(stack: RealTestStack, replica: number): Promise<void> {
  const { url } = stack.service('tracking', replica)
  const answer = await fetch(`${url}/api/event/checkin`, {
    method: 'POST',
    body: JSON.stringify({ user_id: 'too-late', lat: 24, lng: 120.7 }),
  })
  const { code } = (await answer.json()) as { code?: string }
  if (answer.status !== 403 || code !== 'ended')
    throw new Error(`replica ${replica} answers ${answer.status} ${code}`)
}

const TEST_MS = 400_000

const namesOf = (kills: readonly Kill[]): string =>
  kills.map(({ step, service }) => `${service} at ${step}`).join(', ')

describeOnServers('kill -9 during the end of the event', () => {
  let harness: EndHarness
  beforeAll(async () => {
    harness = await openEndHarness()
  })
  afterAll(() => harness?.close())

  const ends: readonly (readonly Kill[])[] =
    process.env.FAULTS === 'long'
      ? STEPS.flatMap((step) => KILLED.map((service) => [{ step, service }]))
      : [
          [
            { step: 'committed', service: 'admin' },
            { step: 'spread', service: 'scheduler' },
            { step: 'first-card', service: 'feedback-media' },
            { step: 'planned', service: 'line-bot' },
            { step: 'first-message', service: 'tracking' },
          ],
        ]
  const patient = ends.length > 1
  test.each(ends.map((kills) => [namesOf(kills), kills] as const))(
    '%s: everything is done, once',
    async (_, kills) => {
      expect(await harness.endUnder(kills, patient)).toBeUndefined()
    },
    TEST_MS,
  )
})
