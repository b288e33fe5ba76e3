/** `bun run test:fuzz`: the fuzz test of `bun run test`, with more requests. */
import { join } from 'node:path'
import { readCommandLine } from '#shared/runtime/command-line.ts'

const USAGE = `Sends wrong requests of every kind to every endpoint, and checks each answer and what is stored.

  bun run test:fuzz [options]

  --requests <n>   how many requests (default: 100000)
  --seed <n>       repeat the requests of an earlier run (default: a new seed)
  --help           print this text

Exit codes: 0 all answers were right, 1 one was not, 2 wrong command line.`

const { values } = readCommandLine(USAGE, {
  requests: { type: 'string', default: '100000' },
  seed: { type: 'string', default: `${Date.now() % 1e6}` },
})
const run = Bun.spawn(
  [process.execPath, join(import.meta.dir, '../../run.ts'), 'tests/tools/fuzz/fuzz.long.test.ts'],
  {
    env: { ...process.env, FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed },
    stdio: ['inherit', 'inherit', 'inherit'],
  },
)
process.exitCode = await run.exited
