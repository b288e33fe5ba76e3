/** Which tests run in which variant of `bun run test`. */
import { describe } from 'bun:test'

/** True in `bun run test:embedded`, where no server runs. */
export const embeddedOnly = process.env.TEST_EMBEDDED_ONLY === '1'

/** Each test runs on every driver: with `bun run test:all`, and if files are named. */
export const isThorough = !embeddedOnly && process.env.TEST_THOROUGH === '1'

/**
 * The test stacks for journeys: both with `bun run test:all` and if files are named. Otherwise only the real one,
 * because they rarely differ, and the embedded one takes longer to start.
 */
export const STACK_KINDS: readonly ('embedded' | 'real')[] = embeddedOnly
  ? ['embedded']
  : isThorough
    ? ['embedded', 'real']
    : ['real']

/** `describe` for tests that need a real Postgres, Redis, NATS or Caddy; skipped where none run. */
export const describeOnServers = describe.skipIf(embeddedOnly)

/**
 * URL of a server of this run.
 * @throws Error if the tests were not started by `bun run test`
 */
export function serverUrl(name: 'POSTGRES' | 'REDIS'): string {
  const url = process.env[`TEST_${name}_URL`]
  if (url === undefined)
    throw new Error(
      `TEST_${name}_URL is not set: start the tests by "bun run test [file]", which runs the servers`,
    )
  return url
}
