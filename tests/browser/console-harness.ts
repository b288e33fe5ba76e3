/** Opens the console of a test stack as an operator of a tier. */
import { afterAll, beforeAll } from 'bun:test'
import type { Environment } from '#shared/runtime/config/config.ts'
import type { Role } from '#shared/contracts/fields.ts'
import { openTestStack, STACK_TIMEOUT_MS } from '#tests/helpers/open-test-stack.ts'
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
    /** Opens the console signed in, in English by default. */
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

/** A page that polls the event every 10 to 15 s shows a change within this time. */
export const FOLLOWS_MS = 60_000

/** A separate test stack for the tests of a file, with its pages. */
export function pagesOf(settings: Environment) {
  const browser = consoleBrowser()
  let stack: TestStack | undefined
  beforeAll(async () => {
    stack = await openTestStack(settings)
  }, STACK_TIMEOUT_MS)
  afterAll(() => stack?.close())
  return {
    get stack(): TestStack {
      return stack!
    },
    open: (options: OpenOptions) => browser.open(stack!, options),
    console: (options?: ConsoleOptions) => browser.console(stack!, options),
  }
}
