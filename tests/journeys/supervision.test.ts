/**
 * Operators' tools besides the reports: the condition, tokens, a dry run of the end, messages, a pilgrim's
 * points.
 */
import { expect, test } from 'bun:test'
import { clustersEndpoint } from '#shared/contracts/clusters.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { submitFeedbackEndpoint, updateFeedbackEndpoint } from '#shared/contracts/feedback.ts'
import { messagesEndpoint, pushEndpoint } from '#shared/contracts/messages.ts'
import { endPreviewEndpoint, readStatusEndpoint, roleEndpoint } from '#shared/contracts/operations.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import {
  conditionEndpoint,
  makeTokenEndpoint,
  revokeTokenEndpoint,
  tokensEndpoint,
} from '#shared/contracts/supervision.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import {
  revokeSharesOfUserEndpoint,
  revokeTrackerOfUserEndpoint,
  userMessagesEndpoint,
  userPointsEndpoint,
} from '#shared/contracts/user-history.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { lineUser } from '#tests/helpers/line-server.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { MINUTE, post, profileOf } from '#tests/helpers/pilgrim.ts'
import { admin, callAs, checkIn, flushed, newPilgrimId, PLACE, syncTrack } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'

describeBothStacks('supervision', (stack) => {
  const read = (path: string, headers: Record<string, string> = admin('owner')) =>
    stack.fetch(`/api/event/${path}`, { headers })
  const condition = async () => dataOf(await read('admin/condition', admin('manager')), conditionEndpoint)

  test('the condition names every part; all are well', async () => {
    await flushed(stack)
    const isComplete = async () => {
      const { parts } = await condition()
      const tracking = parts.find(({ name }) => name === 'tracking')
      return parts.every(({ state }) => state === 'ok') && tracking!.processes!.running === 1
    }
    await until(isComplete, 'a report of every process')
    const seen = await condition()
    expect(seen.parts.map(({ name }): string => name).sort()).toEqual(
      [...ServiceName.options, 'db', 'kv', 'objects'].sort(),
    )
    const processes = { running: 1, silent: 0 }
    expect(seen.parts.find(({ name }) => name === 'tracking')).toMatchObject({ processes })
    expect(seen.parts.find(({ name }) => name === 'db')).toMatchObject({ processes: null })
    expect(seen).toMatchObject({ causes: [], incident: null, backup_at: null })
    expect(seen.alerting).toMatchObject({
      channel: null,
      recipient: false,
      sos: { line: 0, web_push: 0 },
      repeats_min: [10, 30, 60, 120, 240],
    })
    expect(seen.alerting.conditions.find(({ key }) => key === 'flush')!.when.en).toContain('30 minutes')
    expect(Date.parse(seen.last_flush!)).toBeGreaterThan(Date.now() - 60_000)
  })

  test('tokens are listed by name with their last use, and never shown', async () => {
    const token = 'token-of-volunteer-59'
    await stack.fetch('/api/event/auth/role', { headers: { 'X-Admin-Token': token } })
    const used = async () => {
      const answer = await read('admin/tokens')
      const { items } = await dataOf(answer.clone(), tokensEndpoint)
      expect(await answer.text()).not.toContain('token-of-')
      return items
    }
    await until(
      async () => (await used()).some(({ name, last_used }) => name === 'volunteer59' && last_used !== null),
      'the use to be recorded',
      { timeoutMs: 5_000 },
    )
    const items = await used()
    expect(items).toHaveLength(180)
    expect(items[0]!.role).toBe('owner')
    await sentenceOf(await read('admin/tokens', admin('manager')), 403, 'forbidden')
  })

  test('an owner makes a token, which opens what its tier may, and revokes it', async () => {
    const made = await dataOf(
      await callAs(stack, 'owner', 'POST', 'admin/tokens', { name: 'lin', role: 'manager' }),
      makeTokenEndpoint,
    )
    const roleWith = (token: string) =>
      stack.fetch('/api/event/auth/role', { headers: { 'X-Admin-Token': token } })
    const opens = async (token: string) => (await roleWith(token)).status === 200
    await until(() => opens(made.token), 'every process to take the token')
    expect(await dataOf(await roleWith(made.token), roleEndpoint)).toMatchObject({
      role: 'manager',
      name: 'lin',
    })
    expect((await read('admin/tokens', { 'X-Admin-Token': made.token })).status).toBe(403)
    const listed = await read('admin/tokens')
    expect(await listed.clone().text()).not.toContain(made.token)
    const { items } = await dataOf(listed, tokensEndpoint)
    expect(items.find(({ name }) => name === 'lin')).toMatchObject({ fingerprint: made.fingerprint })

    const again = await callAs(stack, 'owner', 'POST', 'admin/tokens', { name: 'lin', role: 'owner' })
    await sentenceOf(again, 409, 'conflict')
    const configured = items.find(({ made_at: at }) => at === null)!
    const kept = await callAs(stack, 'owner', 'DELETE', `admin/tokens/${configured.fingerprint}`)
    await sentenceOf(kept, 404, 'not-found')

    const path = `admin/tokens/${made.fingerprint}`
    await dataOf(await callAs(stack, 'owner', 'DELETE', path), revokeTokenEndpoint)
    await until(async () => !(await opens(made.token)), 'every process to refuse the token')
    await sentenceOf(await callAs(stack, 'owner', 'DELETE', path), 404, 'not-found')
  })

  test('a dry run of the end tells what waits, and changes nothing', async () => {
    const seen = await dataOf(await read('admin/end-activity', admin('manager')), endPreviewEndpoint)
    expect(seen).toMatchObject({ status: 'active', points_journaled: 0 })
    expect(seen.cards.total).toBeGreaterThanOrEqual(seen.cards.done)
    expect((await dataOf(await read('admin/status'), readStatusEndpoint)).status).toBe('active')
  })

  test('points of a day: what was received when, and why a point is left out of the sum', async () => {
    const userId = newPilgrimId()
    const start = Date.now() - 60 * MINUTE
    const at = (minutes: number, north: number) => ({
      lat: PLACE.lat + north / 111_195,
      lng: PLACE.lng,
      timestamp: start + minutes * MINUTE,
    })
    const track = [at(0, 0), at(0.2, 20), at(2, 100), at(3, 104), at(5, 300)]
    expect((await syncTrack(stack, userId, track)).status).toBe(200)
    await flushed(stack)
    const path = `admin/users/${userId}/points`
    const first = await dataOf(await read(`${path}?limit=3`), userPointsEndpoint)
    expect(first.items.map(({ outcome }) => outcome)).toEqual(['first', 'too-soon', 'counted'])
    const rest = await dataOf(await read(`${path}?limit=3&cursor=${first.next_cursor}`), userPointsEndpoint)
    expect(rest.items.map(({ outcome }) => outcome)).toEqual(['too-near', 'counted'])
    expect(rest.next_cursor).toBeNull()
    const km = [...first.items, ...rest.items].reduce((sum, point) => sum + point.km, 0)
    expect(Math.floor(km * 100) / 100).toBe((await profileOf(stack, userId)).km)
    expect(first).toMatchObject({ truncated: false, pending: 0, days: [{ day: first.day, points: 5 }] })
    expect(first.way).toHaveLength(3)
    const left_out = { 'too-soon': 1, 'too-near': 1, 'too-fast': 0, 'same-instant': 0, rough: 0, outside: 0 }
    expect(first).toMatchObject({ total: 5, left_out })
    const only = await dataOf(await read(`${path}?limit=1&only=left-out`), userPointsEndpoint)
    expect(only).toMatchObject({ items: [{ outcome: 'too-soon' }], total: 2, left_out, way: first.way })
    const next = await dataOf(
      await read(`${path}?limit=1&only=left-out&cursor=${only.next_cursor}`),
      userPointsEndpoint,
    )
    expect(next).toMatchObject({ items: [{ outcome: 'too-near' }], next_cursor: null })
    await sentenceOf(await read(`${path}?limit=1&cursor=${only.next_cursor}`), 400, 'invalid-request')
    const detail = await dataOf(await read(`admin/users/${userId}`), userEndpoint)
    expect(detail.latest_day?.recorded_km).toEqual({ walk: detail.km })
    // Pending points are included. Yesterday's point is elsewhere, so a flush in between excludes no more
    // points of this day.
    await syncTrack(stack, userId, [at(5.1, 300), at(-24 * 60, 300)])
    expect(await dataOf(await read(`admin/users/${userId}`), userEndpoint)).toMatchObject({
      latest_day: {
        day: first.day,
        points: 6,
        left_out: {
          ...left_out,
          'too-soon': 2,
        },
        truncated: false,
        last: { recorded_at: new Date(at(5.1, 300).timestamp).toISOString() },
      },
    })
    // The same for a day whose points are all pending.
    const [, before] = (await dataOf(await read(path), userPointsEndpoint)).days
    const dayBefore = new Date(Date.parse(first.day!) - 1_440 * MINUTE).toISOString().slice(0, 10)
    expect(before).toEqual({ day: dayBefore, points: 1, km: 0 })
    await sentenceOf(await read(`admin/users/${newPilgrimId()}/points`), 404, 'not-found')
    const audit = await dataOf(await read(`admin/audit?action=show-points&search=${userId}`), auditEndpoint)
    // Each first page counts as access: all points, the excluded ones, and all including the pending one.
    expect(audit.items).toHaveLength(3)
  })

  test('every message is in the ledger, and at the pilgrim whom it was sent to', async () => {
    const userId = lineUser(0x8_100_001)
    await checkIn(stack, userId)
    const pushed = await callAs(stack, 'manager', 'POST', 'push', {
      user_ids: [userId],
      text: 'Water at the temple 水',
    })
    const { id } = await dataOf(pushed, pushEndpoint)
    const { items } = await dataOf(await read('push?cause=push&limit=5'), messagesEndpoint)
    expect(items.find((one) => one.id === id)).toMatchObject({
      text: 'Water at the temple 水',
      recipients: 1,
      skipped: 1,
      state: 'skipped',
    })
    const theirs = await dataOf(await read(`admin/users/${userId}/messages`), userMessagesEndpoint)
    expect(theirs.items).toMatchObject([{ id, state: 'skipped', text: 'Water at the temple 水' }])
    const one = await dataOf(await read('push?limit=1'), messagesEndpoint)
    expect(one.items).toHaveLength(1)
  })

  test('an operator revokes a tracker and ends all links of a pilgrim', async () => {
    const userId = newPilgrimId()
    const made = async (path: string) =>
      (
        await stack.fetch(`/api/event/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ user_id: userId }),
        })
      ).json() as Promise<{ data: { id: string; url: string } }>
    const tracker = (await made('trackers')).data
    const share = (await made('shares')).data
    const remove = (path: string) => callAs(stack, 'manager', 'DELETE', `admin/users/${userId}/${path}`)
    expect((await stack.fetch(`/s/${share.id}`)).status).toBe(200)
    await dataOf(await remove(`trackers/${tracker.id}`), revokeTrackerOfUserEndpoint)
    await sentenceOf(await remove(`trackers/${tracker.id}`), 404, 'not-found')
    expect(await dataOf(await remove('shares'), revokeSharesOfUserEndpoint)).toEqual({ revoked: 1 })
    await sentenceOf(await remove('shares'), 404, 'not-found')
    expect((await stack.fetch(`/s/${share.id}`)).status).toBe(410)
    const audit = await dataOf(await read(`admin/audit?search=${userId}`), auditEndpoint)
    expect(audit.items.map(({ action }) => action)).toEqual(['revoke-shares', 'revoke-tracker'])
  })

  test('of two operators who change feedback at once, the slower one is told and overwrites nothing', async () => {
    const given = { category: 'app', description: 'It does not load' }
    const { id } = await dataOf(await post(stack, 'feedback', given), submitFeedbackEndpoint)
    const change = (body: object) => callAs(stack, 'manager', 'PATCH', `feedback/${id}`, body)
    const changed = async (body: object) => dataOf(await change(body), updateFeedbackEndpoint)
    const both = await Promise.all(
      ['triaging', 'wontfix'].map((status) => change({ status, seen: { status: 'new' } })),
    )
    expect(new Set(both.map((answer) => answer.status))).toEqual(new Set([200, 409]))
    const { status } = await changed({ admin_note: 'a', seen: { admin_note: null } })
    expect(
      await sentenceOf(
        both.find(({ ok }) => !ok)!,
        409,
        'conflict',
      ),
    ).toContain(status)
    // A change that is already made is not a conflict, nor is another field.
    expect(await changed({ status, seen: { status: 'new' } })).toMatchObject({ status, admin_note: 'a' })
    await sentenceOf(await change({ admin_note: 'b', seen: { admin_note: null } }), 409, 'conflict')
    expect(await changed({ admin_note: 'b', seen: { admin_note: 'a' } })).toMatchObject({ admin_note: 'b' })
  })

  test('the audit log is filtered', async () => {
    const token = { 'X-Admin-Token': 'token-of-manager-58' }
    const since = new Date().toISOString()
    for (const userId of ['audit-a', 'audit-b']) {
      await post(stack, 'user/sync', { user_id: userId })
      await stack.fetch('/api/event/admin/roles', {
        method: 'POST',
        headers: token,
        body: JSON.stringify({ user_id: userId, role: 'volunteer' }),
      })
    }
    const found = async (query: string) =>
      (await dataOf(await read(`admin/audit?${query}`), auditEndpoint)).items.length
    const mine = `token_name=manager58&since=${since}`
    expect(await found(mine)).toBe(2)
    expect(await found(`${mine}&search=AUDIT-B`)).toBe(1)
    expect(await found(`${mine}&search=%25`)).toBe(0)
    expect(await found(`${mine}&until=${since}`)).toBe(0)
    expect(await found(`${mine}&action=show-user`)).toBe(0)
  })

  test('cells of past hours', async () => {
    const userId = newPilgrimId()
    const hour = 3_600_000
    const now = Date.now()
    const track = [3, 2, 1].map((ago) => ({ lat: 23.1, lng: 120.2, timestamp: now - ago * hour }))
    await syncTrack(stack, userId, track)
    await flushed(stack)
    const points = async (query: string) => {
      const answer = await read(`admin/clusters?zoom=18&bbox=120.19,23.09,120.21,23.11&${query}`)
      const { features } = await dataOf(answer, clustersEndpoint)
      return features.reduce((sum, { properties }) => sum + properties.count, 0)
    }
    const at = (ago: number) => new Date(now - ago * hour).toISOString()
    expect(await points('')).toBe(3)
    expect(await points(`since=${at(3)}&until=${at(1)}`)).toBe(2)
    expect(await points(`until=${at(2)}`)).toBe(1)
    expect(await points(`since=${at(48)}&until=${at(24)}`)).toBe(0)
  })
})
