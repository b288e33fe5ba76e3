/**
 * Rejections by the service: each action with each error. The sentence says what happened and what to do,
 * nothing appears done, and the focus stays where it was. All with the keyboard.
 */
import { expect, test } from 'bun:test'
import type { Route, Locator } from 'playwright-core'
import type { OpenPage, Page } from './browser.ts'
import { pilgrimId } from './console-data.ts'
import type { ConsoleOptions } from './console-harness.ts'
import { openView, type View } from './console-tour.ts'

/** The console's actions with visible effects: how each is reached and performed by keyboard. */
interface Action {
  readonly name: string
  readonly view: View
  readonly request: readonly [method: string, path: string]
  /** Opens the action. @returns its button, and for a dialog the element that opened it */
  readonly open: (page: Page) => Promise<{ readonly control: Locator; readonly opener?: Locator }>
  /** Text that a successful action would change. */
  readonly unchanged: string
}

async function press(control: Locator): Promise<void> {
  await control.focus()
  await control.press('Enter')
}

/** Opens a confirmation by keyboard, and types what it requires. */
async function ask(page: Page, opener: Locator, button: string, typed?: string) {
  await press(opener)
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  if (typed !== undefined) {
    await dialog.locator('input').focus()
    await page.keyboard.type(typed)
  }
  return { control: dialog.getByRole('button', { name: button, exact: true }), opener }
}

/** Selects a value for a person; nothing is sent before it is saved. */
async function choose(page: Page, label: string, chosen: string) {
  const actions = page.locator('.person-actions')
  await actions.getByLabel(label).selectOption(chosen)
  return { control: actions.getByRole('button', { name: 'Save' }) }
}

const LETTERS = [7, 8, 9].map((id) => ({
  id,
  userId: pilgrimId(1),
  field: 'c:1',
  value: '{}',
  reason: `The disk ${id} is full.`,
  refusals: 1,
  refused_at: new Date().toISOString(),
}))
const letter = (page: Page, id: number) => page.locator('.letter', { hasText: `#${id}` })

async function openPerson(page: Page, tab: string): Promise<void> {
  await page.locator('.people-search').fill(pilgrimId(7))
  await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
  await press(page.locator('.name-button').first())
  await page.locator('.person .level-line').waitFor()
  await page.locator('.person').getByRole('button', { name: tab }).click()
}

const ACTIONS: readonly Action[] = [
  {
    name: 'send',
    view: 'messages',
    request: ['POST', '**/api/event/push'],
    unchanged: 'output.count',
    async open(page) {
      await page.locator('.compose select').selectOption('all')
      await page.locator('.compose textarea').fill('Rain comes at noon.')
      const asked = await ask(page, page.getByRole('button', { name: 'Send…' }), 'Send now')
      await page.locator('output.count').waitFor()
      return asked
    },
  },
  {
    name: 'slot',
    view: 'messages',
    request: ['PUT', '**/admin/notifications'],
    unchanged: '.schedule .rows',
    async open(page) {
      await press(page.locator('.schedule .rows > li').nth(1).getByRole('button', { name: 'Edit' }))
      await page
        .locator('.slot-form')
        .getByText(/^Recipients: /)
        .waitFor()
      return { control: page.locator('.slot-form').getByRole('button', { name: 'Remove', exact: true }) }
    },
  },
  {
    name: 'pause',
    view: 'lifecycle',
    request: ['PUT', '**/admin/status'],
    unchanged: '.state-line',
    open: (page) =>
      ask(
        page,
        page.getByRole('button', {
          name: 'Pause…',
          exact: true,
        }),
        'Pause',
      ),
  },
  {
    name: 'end',
    view: 'lifecycle',
    request: ['POST', '**/admin/end-activity'],
    unchanged: '.state-line',
    open: (page) =>
      ask(page, page.getByRole('button', { name: 'End the event…' }), 'End forever', 'Pilgrimage'),
  },
  {
    name: 'requeue',
    view: 'system',
    request: ['POST', '**/dead-letters/8/replay'],
    unchanged: '.dead-letters .rows',
    open: async (page) => ({ control: letter(page, 8).getByRole('button', { name: 'Requeue' }) }),
  },
  {
    name: 'drop',
    view: 'system',
    request: ['DELETE', '**/dead-letters/8'],
    unchanged: '.dead-letters .rows',
    open: (page) => ask(page, letter(page, 8).getByRole('button', { name: 'Drop…' }), 'Drop…', '#8'),
  },
  {
    name: 'status',
    view: 'people',
    request: ['PUT', '**/users/*/status'],
    unchanged: '.person-actions',
    async open(page) {
      await openPerson(page, 'About')
      return choose(page, 'Status', 'withdrawn')
    },
  },
  {
    name: 'role',
    view: 'people',
    request: ['POST', '**/admin/roles'],
    unchanged: '.person-actions',
    async open(page) {
      await page.locator('.person-actions').getByLabel('Status').selectOption('active')
      return choose(page, 'Role', 'manager')
    },
  },
  {
    name: 'palanquin',
    view: 'people',
    request: ['PUT', '**/users/*/palanquin'],
    unchanged: '.person-actions',
    open: (page) => ask(page, page.getByRole('button', { name: 'Palanquin…' }), 'Show as “Palanquin”'),
  },
  {
    name: 'revoke',
    view: 'people',
    request: ['DELETE', '**/users/*/trackers/*'],
    unchanged: '.person .rows',
    open: (page) => ask(page, page.getByRole('button', { name: 'Revoke…' }), 'Revoke'),
  },
  {
    name: 'erase',
    view: 'people',
    request: ['DELETE', `**/users/${pilgrimId(7)}`],
    unchanged: '.person-actions',
    open: (page) => ask(page, page.locator('.person-actions .danger').first(), 'Erase forever', pilgrimId(7)),
  },
]

const SAID = 'The service says why.'

/**
 * Sentences of the console after `SAID`; the rate limit comes last, because the page then reads nothing for a
 * second.
 */
const REFUSALS = {
  403: 'Not done: The service says why. Your token may not do this.',
  404: 'Not done: The service says why. Read again: it may have been removed.',
  409: 'Not done: The service says why. Look at how it is now.',
  503: 'Perhaps done: The service says why. Look before you try again.',
  offline: /^Perhaps done: .+\. Look before you try again\.$/,
  429: /^Not done: (?:T|There were t)oo many requests\. Do it again (?:in 1 s|now)\.$/,
} as const
type Refusal = keyof typeof REFUSALS

const ERRORS = /status of (?:403|404|409|429|503)|ERR_CONNECTION_REFUSED/

const refuse = (refusal: Refusal) => (route: Route) =>
  refusal === 'offline'
    ? route.abort('connectionrefused')
    : route.fulfill({
        status: refusal,
        headers: refusal === 429 ? { 'Retry-After': '1' } : {},
        json: { error: SAID, code: 'refused' },
      })

/** Adds data that the tests need and the stack lacks: points rejected by the database, and a tracker. */
async function addFaults(page: Page, letters: { items: typeof LETTERS }): Promise<void> {
  await page.route('**/admin/dead-letters?*', (route) =>
    route.fulfill({ json: { ok: true, data: { items: letters.items, next_cursor: null } } }),
  )
  await page.route(`**/admin/users/${pilgrimId(7)}`, async (route) => {
    if (route.request().method() !== 'GET') return route.fallback()
    const response = await route.fetch()
    const body = (await response.json()) as { data: object }
    const trackers = [{ id: 'a', label: 'Phone', created_at: new Date().toISOString() }]
    return route.fulfill({ response, json: { ...body, data: { ...body.data, trackers } } })
  })
}

/** Its text without the error, and the selected options, which are not part of the text. */
const stateOf = (page: Page, part: string): Promise<string> =>
  page
    .locator(part)
    .first()
    .evaluate((element) => {
      const chosen = [...element.querySelectorAll('select')].map(({ value }) => value)
      const copy = element.cloneNode(true) as Element
      for (const problem of copy.querySelectorAll('.problem')) problem.remove()
      return [copy.textContent, ...chosen].join('\n')
    })

async function expectRefused(page: Page, { name, request: [method, path], ...action }: Action) {
  const { control, opener } = await action.open(page)
  const before = await stateOf(page, action.unchanged)
  for (const refusal of ['403', '404', '409', '503', 'offline', '429'] as const) {
    const key = (refusal === 'offline' ? refusal : Number(refusal)) as Refusal
    const handler = (route: Route) =>
      route.request().method() === method && !(route.request().postData() ?? '').includes('dry_run')
        ? refuse(key)(route)
        : route.fallback()
    await page.route(path, handler)
    await control.focus()
    await control.press('Enter')
    const shownText =
      opener === undefined
        ? page.locator('.toast.warning > span').last()
        : page.getByRole('dialog').getByRole('alert')
    const sentence = REFUSALS[key]
    await shownText
      .filter({ hasText: typeof sentence === 'string' ? sentence : new RegExp(sentence.source.slice(1, -1)) })
      .waitFor()
    expect({ name, refusal, focus: await control.evaluate((one) => one === document.activeElement) }).toEqual(
      { name, refusal, focus: true },
    )
    expect({ name, refusal, state: await stateOf(page, action.unchanged) }).toEqual({
      name,
      refusal,
      state: before,
    })
    await page.unroute(path, handler)
  }
  expect(await page.locator('.toast:not(.warning)').count()).toBe(0)
  const notices = page.locator('.toast .icon')
  while ((await notices.count()) > 0) await notices.first().press('Escape')
  if (opener === undefined) return
  await page.keyboard.press('Escape')
  await opener.and(page.locator(':focus')).waitFor()
}

export function refusalTests(open: (options: ConsoleOptions) => Promise<OpenPage>): void {
  test('each refusal of each action says what happened and what to do, and nothing looks done', async () => {
    const letters = { items: LETTERS }
    await using opened = await open({ expected: ERRORS, before: (page) => addFaults(page, letters) })
    const { page } = opened
    let view = 'now'
    for (const action of ACTIONS) {
      if (view !== action.view) await openView(page, (view = action.view))
      await expectRefused(page, action)
    }
    // A completed action removes its row: the focus moves to the next one.
    await page.locator('.navigation a[href="#/system"]').click()
    await page.route('**/dead-letters/8', (route) => {
      letters.items = LETTERS.filter(({ id }) => id !== 8)
      return route.fulfill({ json: { ok: true, data: { id: 8 } } })
    })
    const { control } = await ask(page, letter(page, 8).getByRole('button', { name: 'Drop…' }), 'Drop…', '#8')
    await press(control)
    await page.locator('.toast', { hasText: 'Dropped.' }).waitFor()
    await letter(page, 9).and(page.locator(':focus')).waitFor()
    await page.route('**/dead-letters/9/replay', (route) => {
      letters.items = LETTERS.slice(0, 1)
      return route.fulfill({ json: { ok: true, data: { id: 9, outcome: 'replayed' } } })
    })
    await press(letter(page, 9).getByRole('button', { name: 'Requeue' }))
    await page.locator('.toast', { hasText: 'The next flush stores it' }).waitFor()
    await letter(page, 7).and(page.locator(':focus')).waitFor()
  })

  test('an end without LINE does not say that its summary was sent', async () => {
    const ending = { flush: 'done', cards: { done: 3, total: 3 }, summary: 'skipped' }
    await using opened = await open({
      view: 'lifecycle',
      expected: /ERR_FAILED/,
      async before(page) {
        await page.route('**/admin/stream*', (route) => route.abort())
        await page.route('**/admin/status*', async (route) => {
          const response = await route.fetch()
          const body = (await response.json()) as { data: object }
          await route.fulfill({
            response,
            json: { ...body, data: { ...body.data, status: 'ended', ending } },
          })
        })
      },
    })
    const panel = opened.page.locator('.end-progress')
    await panel.getByText('skipped: LINE is not configured').waitFor()
    await panel.getByText('Complete, without a summary in LINE.').waitFor()
    expect(await panel.locator('.progress.complete').count()).toBe(2)
  })
}
