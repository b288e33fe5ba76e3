/** The console's actions that others notice: how each is reached and done by the keyboard. */
import type { Locator } from 'playwright-core'
import type { Page } from './browser.ts'
import { pilgrimId } from './console-data.ts'
import type { View } from './console-tour.ts'

export interface Action {
  readonly name: string
  readonly view: View
  readonly request: readonly [method: string, path: string]
  /** Leads to the action. @returns what does it, and for a dialog what has opened it */
  readonly open: (page: Page) => Promise<{ readonly control: Locator; readonly opener?: Locator }>
  /** Does it; without it: Enter. */
  readonly act?: (control: Locator) => Promise<unknown>
  /** What would change if it had been done. */
  readonly unchanged: string
}

export async function press(control: Locator): Promise<void> {
  await control.focus()
  await control.press('Enter')
}

/** Opens a question by the keyboard, and types what it wants. */
export async function ask(page: Page, opener: Locator, button: string, typed?: string) {
  await press(opener)
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  if (typed !== undefined) {
    await dialog.locator('input').focus()
    await page.keyboard.type(typed)
  }
  return { control: dialog.getByRole('button', { name: button, exact: true }), opener }
}

export const LETTERS = [7, 8, 9].map((id) => ({
  id,
  userId: pilgrimId(1),
  field: 'c:1',
  value: '{}',
  reason: `The disk ${id} is full.`,
  refusals: 1,
  refused_at: new Date().toISOString(),
}))
export const letter = (page: Page, id: number) => page.locator('.letter', { hasText: `#${id}` })

async function openPerson(page: Page, tab: string): Promise<void> {
  await page.locator('.people-search').fill(pilgrimId(7))
  await page.locator('.people-list').getByText('1–1 of 1').first().waitFor()
  await press(page.locator('.name-button').first())
  await page.locator('.person .level-line').waitFor()
  await page.locator('.person').getByRole('button', { name: tab }).click()
}

export const ACTIONS: readonly Action[] = [
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
      return { control: page.locator('.person-actions').getByLabel('Status') }
    },
    act: (control) => control.selectOption('withdrawn'),
  },
  {
    name: 'role',
    view: 'people',
    request: ['POST', '**/admin/roles'],
    unchanged: '.person-actions',
    open: async (page) => ({ control: page.locator('.person-actions').getByLabel('Role') }),
    act: (control) => control.selectOption('manager'),
  },
  {
    name: 'palanquin',
    view: 'people',
    request: ['PUT', '**/users/*/palanquin'],
    unchanged: '.person-actions',
    open: (page) => ask(page, page.getByRole('button', { name: 'Palanquin…' }), 'Show as palanquin'),
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
