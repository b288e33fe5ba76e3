/** Operators' notes on feedback: unsaved text is not lost, and searches are explained. */
import { expect, test } from 'bun:test'
import { post } from '#tests/helpers/pilgrim.ts'
import { admin, type TestStack } from '#tests/helpers/test-stack.ts'
import { type OpenPage, photograph } from './browser.ts'
import type { ConsoleOptions } from './console-harness.ts'
import { openView } from './console-tour.ts'

const NOTE = 'The next one is at the school'

export function noteTests(
  stack: () => TestStack,
  open: (options: ConsoleOptions) => Promise<OpenPage>,
): void {
  test('a note that is typed stays when another view is opened, and is saved with a status', async () => {
    const answer = await post(stack(), 'feedback', { category: 'service', description: '飲水站在哪裡' })
    const { id } = ((await answer.json()) as { data: { id: number } }).data
    await using opened = await open({ view: 'feedback', role: 'manager' })
    const { page } = opened
    const card = (status: string) => page.locator(`.column.${status} .feedback-card`, { hasText: `#${id} ` })
    const note = page.locator('#feedback-note')
    await card('new').click()
    await page.locator('.one-item').getByText('no place sent').waitFor()
    await note.fill(NOTE)
    await page.getByText('Not saved yet').waitFor()
    await photograph(page, 'console-note-typed')
    await openView(page, 'people')
    await openView(page, 'feedback')
    await card('new').click()
    expect(await note.inputValue()).toBe(NOTE)
    await page.locator('.one-item').getByRole('button', { name: '4 Done' }).click()
    await page.getByText(`#${id}: Done. Note saved.`).waitFor()
    await page.getByText('Not saved yet').waitFor({ state: 'detached' })
    // Undo reverts the change, by the toast and by the key: the status, and the note, which becomes
    // unsaved again.
    const takenBack = async () => {
      await card('new').waitFor()
      await page.getByText('Not saved yet').waitFor()
      expect(await note.inputValue()).toBe(NOTE)
      const stored = await stack().fetch('/api/event/feedback', { headers: admin('manager') })
      const { items } = ((await stored.json()) as { data: { items: { id: number; admin_note: unknown }[] } })
        .data
      expect(items.find((item) => item.id === id)?.admin_note).toBeNull()
    }
    await page.locator('.toast').getByRole('button', { name: 'Undo', exact: true }).click()
    await takenBack()
    await card('new').focus()
    await page.keyboard.press('4')
    await card('fixed').waitFor()
    await page.keyboard.press('z')
    await takenBack()
    // The same for a note that was saved alone.
    await page.locator('.one-item').getByRole('button', { name: 'Save' }).click()
    await page.locator('.toast', { hasText: 'Note saved.' }).getByRole('button', { name: 'Undo' }).click()
    await takenBack()
    await page.locator('.one-item').getByRole('button', { name: '4 Done' }).click()
    await page.getByText('Not saved yet').waitFor({ state: 'detached' })
    await page.reload()
    await card('fixed').click()
    expect(await note.inputValue()).toBe(NOTE)

    await page.getByRole('searchbox').fill('drinking')
    await page.locator('.board-panel').getByText('None.').waitFor()
  })
}
