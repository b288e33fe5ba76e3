/** What tests know about the run of `bun run test` that they are part of. */
import { describe } from 'bun:test'

/** True in `bun run test:embedded`, where no server runs. */
export const embeddedOnly = process.env.TEST_EMBEDDED_ONLY === '1'

/** Each test runs on every driver: in `bun run test:all`, and where files are named. */
export const isThorough = !embeddedOnly && process.env.TEST_THOROUGH === '1'

/**
 * The test stacks on which journeys run: both with `bun run test:all` and where files are named. Otherwise the real one
 * alone, because they rarely differ, and the embedded one takes longer to start.
 */
export const STACK_KINDS: readonly ('embedded' | 'real')[] = embeddedOnly
  ? ['embedded']
  : isThorough
    ? ['embedded', 'real']
    : ['real']

/** `describe` for tests that need a real Postgres, Redis, NATS or Caddy; skipped where none run. */
export const describeOnServers = describe.skipIf(embeddedOnly)

/**
 * Address of a server of this run.
 * @throws Error when the tests were not started through `bun run test`
 */
export function serverUrl(name: 'POSTGRES' | 'REDIS'): string {
  const url = process.env[`TEST_${name}_URL`]
  if (url === undefined)
    throw new Error(
      `TEST_${name}_URL is not set: start the tests by "bun run test [file]", which runs the servers`,
    )
  return url
}
