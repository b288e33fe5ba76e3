/** A message reaches each person exactly once, whatever fails or is killed. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import postgres from 'postgres'
import { type PushProgress, pushEndpoint, pushProgressEndpoint } from '#shared/contracts/messages.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineSettings, lineUser, startLineServer } from '#tests/helpers/line-server.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { callAs, readAs } from '#tests/helpers/test-stack.ts'
import { setEvent } from '#tests/helpers/set-event.ts'
import { openRealTestStack, type RealTestStack } from '#tests/helpers/test-stack-real.ts'

const CROWD = 20_000

describeOnServers('sending', () => {
  const line = startLineServer()
  let stack: RealTestStack
  let sql: postgres.Sql
  beforeAll(async () => {
    stack = await openRealTestStack({ settings: lineSettings(line) })
    // The event is over, so that no scheduled notification is sent.
    await setEvent(stack, 'name', { ends_at: '2026-01-01T00:00:00Z' })
    sql = postgres(stack.databaseUrl, { max: 2 })
  })
  afterAll(async () => {
    await sql?.end()
    await stack?.close()
    await line.stop()
  })
  afterEach(async () => {
    line.mishap = () => 'none'
    line.quota = null
    line.gone.clear()
    line.received.clear()
    await sql`TRUNCATE pilgrims, followers, role_assignments`
  })

  const post = (body: object) => callAs(stack, 'manager', 'POST', 'push', body)
  const push = async (body: object) => dataOf(await post(body), pushEndpoint)
  const progressOf = async (id: string) =>
    dataOf(await readAs(stack, 'manager', `push/${id}`), pushProgressEndpoint)
  const completed = (id: string, timeoutMs = 30_000): Promise<PushProgress> =>
    until(
      async () => {
        const progress = await progressOf(id)
        return progress.state === 'sent' && progress
      },
      'the message to be sent',
      { timeoutMs, everyMs: 100 },
    )
  const people = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => lineUser(from + i))
  const enroll = async (ids: readonly string[]) => {
    await sql`INSERT INTO pilgrims (user_id, created_at, updated_at)
      SELECT id, now(), now() FROM jsonb_array_elements_text(${JSON.stringify(ids)}::text::jsonb) AS id`
  }

  test('20,000 people get a message once, through failures, restarts of LINE and kills of the sender', async () => {
    await enroll(people(0, CROWD))
    line.quota = line.used + CROWD
    let calls = 0
    line.mishap = () => (++calls % 5 === 0 ? (calls % 2 === 0 ? 'before' : 'after') : 'none')
    const bot = stack.service('line-bot')
    const { id, recipients, cost } = await push({ audience: 'all', text: 'Good morning' })
    expect({ recipients, cost }).toEqual({ recipients: CROWD, cost: CROWD })
    for (const share of [0.1, 0.3, 0.5]) {
      await until(() => line.received.size >= CROWD * share, `${share} of them`, { timeoutMs: 60_000 })
      await bot.stop('SIGKILL')
      if (share < 0.5) {
        await line.stop()
        line.start()
      }
      await bot.restart()
    }
    const progress = await completed(id!, 180_000)
    expect(progress).toMatchObject({ sent: CROWD, waiting: 0, failed: 0, skipped: 0 })
    expect(line.received.size).toBe(CROWD)
    expect([...line.received.values()].every((count) => count === 1)).toBe(true)
    expect(line.used).toBe(line.quota)
  }, 300_000)

  test('one bad id among 500 is found by halving, and not tried again', async () => {
    const ids = people(100_000, 500)
    await enroll(ids)
    line.gone.add(ids[123]!)
    const first = await completed((await push({ audience: 'all', text: 'x' })).id!)
    expect(first).toMatchObject({ recipients: 500, sent: 499, failed: 1 })
    expect(first.faults).toMatchObject([
      { recipients: 1, people: [{ userId: ids[123]!, display_name: null }] },
    ])
    expect(line.received.size).toBe(499)
    const second = await push({ audience: 'all', text: 'x' })
    expect(second).toMatchObject({ recipients: 499, left_out: { unreachable: 1 } })
    await completed(second.id!)
  })

  test('nothing exceeds the quota unless it is forced', async () => {
    const ids = people(200_000, 30)
    line.quota = line.used + 20
    const refusal = await sentenceOf(await post({ user_ids: ids, text: 'x' }), 409, 'conflict')
    expect(refusal).toContain('30')
    expect(line.received.size).toBe(0)
    expect(await push({ user_ids: ids, text: 'x', dry_run: true })).toMatchObject({
      id: null,
      recipients: 30,
      cost: 30,
      quota_remaining: 20,
    })
    const fits = await push({ user_ids: ids.slice(0, 20), text: 'x' })
    expect(fits.quota_remaining).toBe(20)
    expect(await completed(fits.id!)).toMatchObject({ sent: 20 })
    line.quota += 100
    line.mishap = (path) => (path.endsWith('/multicast') ? 'limited' : 'none')
    const waiting = await push({ user_ids: ids, text: 'x' })
    await until(() => line.calls.some(({ status }) => status === 429), 'a 429')
    // Planned and undecided messages reduce the remaining quota.
    expect(await push({ user_ids: ids, text: 'x', dry_run: true })).toMatchObject({ quota_remaining: 70 })
    line.mishap = () => 'none'
    expect(await completed(waiting.id!)).toMatchObject({ sent: 30 })
  })

  test('a quota that shrinks after the planning is not exceeded', async () => {
    line.quota = line.used + 10
    line.mishap = (path) => (path.endsWith('/multicast') ? 'limited' : 'none')
    const { id } = await push({ user_ids: people(300_000, 10), text: 'x', force: true })
    const { id: polite } = await push({ user_ids: people(300_100, 5), text: 'x', force: false }).catch(
      () => ({ id: null }),
    )
    expect(polite).toBeNull()
    line.mishap = () => 'none'
    expect(await completed(id!)).toMatchObject({ sent: 10 })
  })

  test('an unresponsive LINE delays messages and duplicates none', async () => {
    const ids = people(400_000, 3)
    let hung = 0
    line.mishap = (path) => (path.endsWith('/multicast') && hung++ === 0 ? 'hung' : 'none')
    const { id } = await push({ user_ids: ids, text: 'x' })
    expect(await completed(id!)).toMatchObject({ sent: 3, attempts: 2 })
    expect([...line.received.values()]).toEqual([1, 1, 1])
  })

  test('people who are unreachable, withdrawn or unknown to LINE are left out and counted', async () => {
    const [reached, blocked, withdrawn] = people(500_000, 3)
    await enroll([reached!, blocked!, withdrawn!, 'a-phone-client'])
    await sql`UPDATE pilgrims SET participant_status = 'withdrawn' WHERE user_id = ${withdrawn!}`
    await sql`INSERT INTO followers VALUES (${blocked!}, false, now())`
    const answer = await push({ audience: 'all', title: 'Title', text: 'text' })
    expect(answer).toMatchObject({ recipients: 1, left_out: { unreachable: 1, withdrawn: 1, no_line_id: 1 } })
    expect(await completed(answer.id!)).toMatchObject({ sent: 1 })
    expect([...line.received.keys()]).toEqual([reached!])
    expect(line.sent.at(-1)!.messages[0]).toMatchObject({ type: 'flex', altText: 'Title text' })
  })

  test('each audience selects its people', async () => {
    const [walker, volunteer, walkingVolunteer, manager, owner, done, sleeper] = people(600_000, 7)
    await enroll([walker!, volunteer!, walkingVolunteer!, manager!, owner!, done!, sleeper!])
    await sql`INSERT INTO role_assignments SELECT id, role, 'test', now() FROM (VALUES
      (${volunteer!}, 'volunteer'), (${walkingVolunteer!}, 'volunteer'), (${manager!}, 'manager'), (${owner!}, 'owner')) AS r (id, role)`
    await sql`UPDATE pilgrims SET participant_status = 'completed' WHERE user_id = ${done!}`
    await sql`UPDATE pilgrims SET created_at = now() - interval '5 days' WHERE user_id = ${sleeper!}`
    await sql`INSERT INTO pilgrim_totals (user_id, points, checkins, last_seen) VALUES (${walkingVolunteer!}, 1, 1, now()),
      (${walker!}, 1, 1, now() - interval '3 hours')`
    const reach = async (audience: object) => {
      line.received.clear()
      const { id } = await push({ ...audience, text: 'x' })
      await completed(id!)
      return [...line.received.keys()].sort()
    }
    expect(await reach({ audience: 'all' })).toHaveLength(7)
    expect(await reach({ audience: 'participants' })).toEqual([walker!, walkingVolunteer!, done!, sleeper!])
    expect(await reach({ audience: 'volunteers' })).toEqual([volunteer!, walkingVolunteer!])
    expect(await reach({ audience: 'managers' })).toEqual([manager!])
    expect(await reach({ audience: 'owners' })).toEqual([owner!])
    expect(await reach({ audience: 'completed' })).toEqual([done!])
    expect(await reach({ audience: 'inactive', hours: 2 })).toEqual([walker!, sleeper!])
    expect(await reach({ audience: 'inactive', hours: 4 })).toEqual([sleeper!])
    expect(await reach({ user_ids: [walker!, walker!, owner!] })).toEqual([walker!, owner!])
    await sql`TRUNCATE pilgrim_totals`
  })
})
