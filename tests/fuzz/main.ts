/** `bun run test:fuzz [--requests 100000] [--seed n]`: the fuzzing of `bun run test`, at length. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: `${Date.now() % 1e6}` },
  },
})
const run = Bun.spawn([process.execPath, join(import.meta.dir, '../run.ts'), 'tests/fuzz/fuzz.test.ts'], {
  env: { ...process.env, FUZZ_REQUESTS: values.requests, FUZZ_SEED: values.seed },
  stdio: ['inherit', 'inherit', 'inherit'],
})
process.exitCode = await run.exited
