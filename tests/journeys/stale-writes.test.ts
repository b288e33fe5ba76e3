/** Two operators: a change based on outdated data is rejected, and a repeated message is sent once. */
import { expect, test } from 'bun:test'
import { notificationsEndpoint, pushEndpoint, messagesEndpoint } from '#shared/contracts/messages.ts'
import { userEndpoint } from '#shared/contracts/user-detail.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { callAs, checkIn, newPilgrimId, readActivity, readAs, setStatus } from '#tests/helpers/test-stack.ts'

describeBothStacks('two operators', (stack) => {
  const put = (path: string, body: unknown) => callAs(stack, 'owner', 'PUT', path, body)

  test('saving the text of a pause pauses nobody who has been resumed, and replaces no text unseen', async () => {
    await setStatus(stack, { status: 'paused', message: 'Wait at the temple.' })
    const seen = { status: 'paused', message: 'Wait at the temple.' }
    await setStatus(stack, { status: 'paused', message: 'Wait at the school.' })
    const text = { status: 'paused', message: 'Wait.', seen }
    expect(await sentenceOf(await put('admin/status', text), 409, 'conflict')).toContain('the message')
    const messages = { en: 'Wait.', ja: 'お待ちください。' }
    await setStatus(stack, { status: 'paused', messages })
    // One text is unchanged, but the text in another language has changed.
    const unseen = { ...text, seen: { message: 'Wait.', messages: null }, message: 'Go.' }
    expect(await sentenceOf(await put('admin/status', unseen), 409, 'conflict')).toContain('the message')
    expect(await readActivity(stack)).toMatchObject({ message: 'Wait.', messages })
    await setStatus(stack, { status: 'active' })
    expect(await sentenceOf(await put('admin/status', text), 409, 'conflict')).toContain('active')
    expect(await readActivity(stack)).toMatchObject({ status: 'active', message: null, messages: null })
    // Setting the current value is not a conflict.
    expect((await put('admin/status', { status: 'active', seen })).status).toBe(200)
  })

  test('a role and a status rest on what was seen', async () => {
    const userId = newPilgrimId()
    await checkIn(stack, userId)
    const role = (given: string | null, seen?: string | null) =>
      callAs(stack, 'owner', 'POST', 'admin/roles', { user_id: userId, role: given, seen })
    expect((await role('manager', null)).status).toBe(200)
    await sentenceOf(await role(null, 'volunteer'), 409, 'conflict')
    await sentenceOf(await role('volunteer', null), 409, 'conflict')
    expect((await role('manager', null)).status).toBe(200)

    const status = (next: string, seen?: string) =>
      put(`admin/users/${userId}/status`, { status: next, seen })
    expect((await status('completed', 'active')).status).toBe(200)
    await sentenceOf(await status('withdrawn', 'active'), 409, 'conflict')
    const detail = await dataOf(await readAs(stack, 'owner', `admin/users/${userId}`), userEndpoint)
    expect(detail).toMatchObject({ role: 'manager', participant_status: 'completed' })
    // Without `seen` there is no check.
    expect((await status('active')).status).toBe(200)
  })

  test('of two who save the notifications, one is told', async () => {
    const read = async () =>
      dataOf(await readAs(stack, 'owner', 'admin/notifications'), notificationsEndpoint)
    const { slots, changed_at: seen } = await read()
    const [first, second] = await Promise.all(
      [6, 7].map((hour) =>
        put('admin/notifications', { slots: slots.map((slot) => ({ ...slot, hour })), seen }),
      ),
    )
    expect([first!, second!].map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    expect(new Set((await read()).slots.map(({ hour }) => hour))).toEqual(new Set([first!.ok ? 6 : 7]))
  })

  test('a message is sent once, however often it is repeated', async () => {
    const message = {
      audience: 'volunteers',
      text: `Meet at the gate ${newPilgrimId()}`,
      force: true,
      push_id: crypto.randomUUID(),
    }
    const push = () => callAs(stack, 'manager', 'POST', 'push', message)
    const answers = await Promise.all([push(), push(), push()])
    const ids = await Promise.all(answers.map(async (answer) => (await dataOf(answer, pushEndpoint)).id))
    expect(new Set(ids).size).toBe(1)
    const { items } = await dataOf(await readAs(stack, 'manager', 'push?cause=push'), messagesEndpoint)
    expect(items.filter(({ id }) => id === ids[0])).toHaveLength(1)
    const other = await callAs(stack, 'manager', 'POST', 'push', { ...message, push_id: crypto.randomUUID() })
    expect((await dataOf(other, pushEndpoint)).id).not.toBe(ids[0]!)
  })
})
