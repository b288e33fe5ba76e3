/**
 * `bun tests/bench/aggregates.ts [pilgrims]`: what operators and the map read, at 200,000 and at 2,000,000 points of
 * 50,000 pilgrims, interleaved, beside a bare `SELECT 1` behind the same token, limit and router. Answers are made
 * anew each time: every service's clock stands past what it keeps. Fails when a goal is missed.
 */
import { measureAggregates } from './aggregates/measure.ts'

const SLOWER = 1.3
const OVER_SELECT_1 = 20

const result = await measureAggregates({ pilgrims: Number(process.argv[2] ?? 50_000) })
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
