/** Opens the console of a test stack as an operator of a tier. */
import type { Role } from '#shared/contracts/fields.ts'
import { admin, type TestStack } from '#tests/helpers/test-stack.ts'
import { type OpenOptions, type OpenPage, type Page, testBrowser } from './browser.ts'

export type { Page } from './browser.ts'

export const tokenOf = (role: Role): string => admin(role)['X-Admin-Token']

export const DESKTOP = { width: 1_440, height: 900 }

export interface ConsoleOptions extends Omit<OpenOptions, 'path'> {
  readonly role?: Role
  readonly token?: string
  readonly view?: string
}

/** Types a token and waits for the console. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.locator('#token').fill(token)
  await page.keyboard.press('Enter')
  await page.locator('.console').waitFor()
}

export function consoleBrowser() {
  const browser = testBrowser()
  return {
    ...browser,
    /** Opens the console in English, signed in. */
    async console(stack: Pick<TestStack, 'port'>, options: ConsoleOptions = {}): Promise<OpenPage> {
      const { role = 'owner', token = tokenOf(role), view = 'now', ...rest } = options
      const opened = await browser.open(stack, {
        path: `/admin/?lang=en#/${view}`,
        viewport: DESKTOP,
        locale: 'en-GB',
        ...rest,
      })
      await signIn(opened.page, token)
      return opened
    },
  }
}
