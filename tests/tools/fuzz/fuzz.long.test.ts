/** Every invalid request gets a proper error. `bun run test:fuzz` sends many more requests. */
import { expect, test } from 'bun:test'
import { flushed, healthOf } from '#tests/helpers/test-stack.ts'
import { describeBothStacks } from '#tests/helpers/open-test-stack.ts'
import { injections } from './injection.suite.ts'
import { fuzz, UNLIMITED } from './fuzz.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 3_000)
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const MINUTES = 60_000

describeBothStacks(
  'fuzzing',
  (stack) => {
    injections(stack)

    test(
      'no answer is a 5xx, hangs or leaks internals, and nothing is stored partly',
      async () => {
        const started = performance.now()
        const report = await fuzz(stack, {
          requests: REQUESTS / 2,
          seed: SEED,
          onProgress: (sent, findings) => {
            if (sent % 5_000 === 0)
              console.log(
                `${stack.kind}: ${sent} requests, ${findings} findings, ${Math.round((performance.now() - started) / 1_000)} s`,
              )
          },
        })
        for (const { operation, fault, answer, seed, after, line } of report.findings)
          console.error(
            `\n${operation}: ${fault}\n  ${answer}\n  --seed ${seed}, after ${after} requests\n  ${line}`,
          )
        console.log(
          `${stack.kind}: ${report.sent} requests, slowest ${Math.round(report.slowest.ms)} ms (${report.slowest.operation});`,
          [...report.statuses]
            .sort(([a], [b]) => a.localeCompare(b))
            .map(([status, n]) => `${status}: ${n}`)
            .join(', '),
        )
        for (const line of report.away) console.log(`${stack.kind}: ${line}`)
        expect(report.findings.map(({ operation, fault }) => `${operation}: ${fault}`)).toEqual([])
        // Nothing reached the database that it rejects, which would alert the owner.
        expect(stack.complaints()).toEqual([])
        await flushed(stack)
        expect(await healthOf(stack)).toMatchObject({ status: 'ok', db: 'ok', kv: 'ok', objects: 'ok' })
      },
      10 * MINUTES,
    )
  },
  UNLIMITED,
)
