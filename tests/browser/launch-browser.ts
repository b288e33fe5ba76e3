import { type Browser, chromium } from 'playwright-core'
import { commandPath } from '#tests/helpers/programs.ts'
import { slower } from '#tests/helpers/time-limits.ts'

/** Chromium starts in a second. */
const LAUNCH_MS = 60_000

/**
 * Starts Chromium without the parts of a window, which takes a third of the processor's time.
 * @param args more arguments of its command line
 * @param notifies starts the whole one: only that shows notifications
 */
export const launchBrowser = (args: readonly string[] = [], notifies = false): Promise<Browser> =>
  chromium.launch({
    executablePath: (notifies ? null : Bun.which('chromium-headless-shell')) ?? commandPath('chromium'),
    timeout: slower(LAUNCH_MS),
    args: ['--no-sandbox', '--force-color-profile=srgb', ...args],
    // Without a locale, Chromium names no file in Chinese.
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
