/** Opens the console of a test stack as an operator of a tier. */
import type { Role } from '#shared/contracts/fields.ts'
import { admin, type TestStack } from '#tests/helpers/test-stack.ts'
import { type OpenOptions, type OpenPage, testBrowser } from './browser.ts'
import { signIn } from './console-tour.ts'

export type { Page } from './browser.ts'
export { signIn } from './console-tour.ts'

export const tokenOf = (role: Role): string => admin(role)['X-Admin-Token']

export const DESKTOP = { width: 1_440, height: 900 }

export interface ConsoleOptions extends Omit<OpenOptions, 'path'> {
  readonly role?: Role
  readonly token?: string
  readonly view?: string
  readonly language?: 'en' | 'zh-Hant'
}

export function consoleBrowser() {
  const browser = testBrowser()
  return {
    ...browser,
    /** Opens the console, in English unless told, signed in. */
    async console(stack: Pick<TestStack, 'port'>, options: ConsoleOptions = {}): Promise<OpenPage> {
      const { role = 'owner', token = tokenOf(role), view = 'now', language = 'en', ...rest } = options
      const opened = await browser.open(stack, {
        path: `/admin/?lang=${language}#/${view}`,
        viewport: DESKTOP,
        locale: 'en-GB',
        ...rest,
      })
      await signIn(opened.page, token)
      return opened
    },
  }
}
