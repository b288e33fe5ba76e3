/**
 * Measures the reads of operators and of the map at two sizes of the event, in turns, beside a `SELECT 1` behind the
 * same token, rate limit and router. No answer comes from a cache, because each service's clock is past its lifetime.
 */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { measureAggregates } from './aggregates/measure.ts'

const SLOWER = 1.3
const OVER_SELECT_1 = 20

const USAGE = `Measures the reads of operators and of the map at 4 and at 40 points of each pilgrim, beside a SELECT 1.

  bun tests/bench/aggregates.ts [pilgrims]

  pilgrims   how many (default: 50000)
  --help     print this text

Exit codes: 0 all goals met, 1 a goal was missed, 2 wrong command line.`

const { positionals } = readCommandLine(USAGE, {}, 1)
const result = await measureAggregates({ pilgrims: Number(positionals[0] ?? 50_000) })
let missed = 0
for (const { name, smallMs, largeMs, growth, overSelect1 } of result.aggregates) {
  const met = growth <= SLOWER && overSelect1 <= OVER_SELECT_1
  if (!met) missed++
  console.log(
    `${met ? ' ' : '!'} ${name.padEnd(26)} ${smallMs.toFixed(2).padStart(8)} ms ${largeMs.toFixed(2).padStart(8)} ms` +
      ` × ${growth.toFixed(2)}   ${overSelect1.toFixed(1).padStart(5)} × SELECT 1`,
  )
}
console.log(`  SELECT 1 ${result.select1Ms.toFixed(3)} ms`)
process.exitCode = missed === 0 ? 0 : 1
