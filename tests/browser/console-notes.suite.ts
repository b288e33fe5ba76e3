/** The operators' notes on feedback: what is typed is not lost, and what is searched is explained. */
import { expect, test } from 'bun:test'
import { post } from '#tests/helpers/pilgrim.ts'
import type { TestStack } from '#tests/helpers/test-stack.ts'
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
    await page.reload()
    await card('fixed').click()
    expect(await note.inputValue()).toBe(NOTE)

    await page.getByRole('searchbox').fill('drinking')
    await page.locator('.board-panel').getByText('None.').waitFor()
  }, 60_000)
}
