/**
 * Operators' and pilgrims' writes while Redis is down: each is done completely or not at all, and reports
 * which.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { pushEndpoint, type PushRequest } from '#shared/contracts/messages.ts'
import { setStatusEndpoint } from '#shared/contracts/operations.ts'
import { participantStatusEndpoint, privacyEndpoint } from '#shared/contracts/profile.ts'
import { userStatusEndpoint } from '#shared/contracts/reports.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { post, profileOf } from '#tests/helpers/pilgrim.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { type OwnedTestStack, openOwnedTestStack, recovered } from '#tests/helpers/test-stack-real.ts'
import { callAs, newPilgrimId, readAs, setStatus } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

const OUTAGE_MS = 60_000

describeOnServers('writing without the kv', () => {
  let stack: OwnedTestStack
  let userId: string
  beforeAll(async () => {
    stack = await openOwnedTestStack({ apart: [] })
    userId = newPilgrimId()
    await post(stack, 'user/sync', { user_id: userId, display_name: 'Known' })
    await stack.redis.stop()
  })
  afterAll(() => stack?.close())

  const putStatus = (status: string) =>
    callAs(stack, 'manager', 'PUT', `admin/users/${userId}/status`, { status })
  const audited = async (action: string) => {
    const answer = await readAs(stack, 'owner', 'admin/audit?limit=200')
    return (await dataOf(answer, auditEndpoint)).items.filter((entry) => entry.action === action)
  }
  const push = (request: PushRequest) => callAs(stack, 'owner', 'POST', 'push', { text: 'x', ...request })

  test('who stays on the map is stored; nobody is hidden or shown halfway', async () => {
    const status = (wanted: string) => post(stack, 'participant-status', { user_id: userId, status: wanted })
    const privacy = (agreed: boolean) => post(stack, 'privacy', { user_id: userId, agreed, version: '1' })
    await sentenceOf(await status('withdrawn'), 503, 'unavailable')
    await sentenceOf(await putStatus('withdrawn'), 503, 'unavailable')
    await sentenceOf(await privacy(false), 503, 'unavailable')
    expect(await profileOf(stack, userId)).toMatchObject({
      participant_status: 'active',
      privacy_agreed_at: null,
    })
    expect(await audited('set-user-status')).toEqual([])
    await dataOf(await privacy(true), privacyEndpoint)
    await dataOf(await status('completed'), participantStatusEndpoint)
    for (const wanted of ['active', 'active', 'completed', 'completed'])
      await dataOf(await putStatus(wanted), userStatusEndpoint)
    expect(await profileOf(stack, userId)).toMatchObject({
      participant_status: 'completed',
      privacy_agreed: true,
    })
    // The pilgrim's current status is not a change.
    expect((await audited('set-user-status')).map(({ details }) => details.status)).toEqual([
      'completed',
      'active',
    ])
  })

  test('nobody is called inactive; an answer that lacks pilgrims of the buffer says so', async () => {
    for (const dry_run of [true, false])
      await sentenceOf(await push({ audience: 'inactive', dry_run }), 503, 'unavailable')
    expect(await audited('push')).toEqual([])
    for (const audience of ['all', 'participants'] as const)
      expect(await dataOf(await push({ audience, dry_run: true }), pushEndpoint)).toMatchObject({
        pending: null,
      })
    for (const to of [{ audience: 'completed' as const }, { user_ids: [userId] }])
      expect(await dataOf(await push({ ...to, dry_run: true }), pushEndpoint)).not.toHaveProperty('pending')
  })

  test('a status that is in effect is no failure when it is set again; one that is not stays one', async () => {
    await dataOf(await setStatus(stack, { status: 'active' }), setStatusEndpoint)
    for (let i = 0; i < 2; i++)
      await sentenceOf(await setStatus(stack, { status: 'paused' }), 503, 'unavailable')
    await stack.redis.restart()
    await recovered(stack)
    await dataOf(await setStatus(stack, { status: 'active' }), setStatusEndpoint)
    await dataOf(await putStatus('withdrawn'), userStatusEndpoint)
    // Recently seen pilgrims are read on a separate connection, which may recover later.
    const count = () => push({ audience: 'inactive', dry_run: true })
    await until(async () => (await count()).ok, 'that connection', { timeoutMs: OUTAGE_MS })
    expect(await dataOf(await count(), pushEndpoint)).not.toHaveProperty('pending')
  })
})
