/** Reports in the app: what is missing is said, and a picture can be replaced, removed and sent. */
import { expect, test } from 'bun:test'
import { admin } from '#tests/helpers/test-stack.ts'
import { photograph } from './browser.ts'
import type { WalkApp } from './walk-harness.ts'

const TEST_MS = 60_000
/** A picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

export function reportTests(app: WalkApp): void {
  test(
    'a report with a picture arrives',
    async () => {
      await using phone = await app.newPilgrim()
      const { page } = phone
      await page.goto(app.address('#feedback'))
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Please choose what it is about.').waitFor()
      await page.getByLabel('What is it about?').selectOption('safety')
      // What was missing is not said any more once it is there.
      await page.getByText('Please choose what it is about.').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Please write a few words first.').waitFor()
      await page.getByLabel('What happened?').fill('A dog followed me.')
      const picture = page.locator('input[type=file]')
      await picture.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('This picture can not be read.').waitFor()
      await page.getByRole('button', { name: 'Remove the picture' }).click()
      await page.getByAltText('The picture that goes with the report').waitFor({ state: 'detached' })
      await picture.setInputFiles({ name: 'dog.png', mimeType: 'image/png', buffer: PNG })
      await page.getByAltText('The picture that goes with the report').waitFor()
      await photograph(page, 'walk-report', true)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByText('Thank you. Your report has arrived.').waitFor()
      await page.getByText('Your picture has arrived, too.').waitFor()
      await page.getByText('The organisers read it.').waitFor()
      await photograph(page, 'walk-report-arrived')
      const board = await app.stack.fetch('/api/event/feedback', { headers: admin('manager') })
      const text = await board.text()
      expect(text).toMatch(/A dog followed me\..*feedback-image/)
      expect(text).toContain('"category":"safety"')
      await page.getByRole('button', { name: 'Back to “Tell us”' }).click()
      await page.getByRole('heading', { name: 'Tell us' }).waitFor()
    },
    TEST_MS,
  )
}
