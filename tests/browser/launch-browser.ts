import { type Browser, chromium } from 'playwright-core'
import { commandPath } from '#tests/helpers/programs.ts'
import { slower } from '#tests/helpers/time-limits.ts'

/** Chromium starts in a second. */
const LAUNCH_MS = 60_000

/**
 * Starts headless Chromium without its window parts, which saves a third of the processor time.
 * @param args additional command-line arguments
 * @param notifies starts the full browser, which alone shows notifications
 */
export const launchBrowser = (args: readonly string[] = [], notifies = false): Promise<Browser> =>
  chromium.launch({
    executablePath: (notifies ? null : Bun.which('chromium-headless-shell')) ?? commandPath('chromium'),
    timeout: slower(LAUNCH_MS),
    args: ['--no-sandbox', '--force-color-profile=srgb', ...args],
    // Without a locale, Chromium cannot create file names in Chinese.
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
