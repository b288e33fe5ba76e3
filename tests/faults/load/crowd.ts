/**
 * `bun tests/faults/load/crowd.ts [--rate 30] [--times 20] [--seconds 10]`: check-ins at a steady rate, by turns
 * alone and while a crowd twenty times as large reads the map; what the check-ins take in both, side by side.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { newDirectory } from '#tests/helpers/process.ts'
import { openFragileWorld } from '#tests/helpers/world-real.ts'
import { type Measured, startSteady, walking } from './steady.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'

const ROUNDS = 3
const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '30' },
    times: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '10' },
  },
})
const [rate, times, seconds] = [Number(values.rate), Number(values.times), Number(values.seconds)]

const line = (name: string, { requests, failures, p50Ms, p99Ms }: Measured) =>
  `| ${name.padEnd(12)} | ${`${requests}`.padStart(8)} | ${`${failures}`.padStart(8)} | ${p50Ms.toFixed(1).padStart(7)} | ${p99Ms.toFixed(1).padStart(7)} |`

await inDirectory('crowd', async () => {
  const world = await openFragileWorld({ settings: { EVENT_FLUSH_SECONDS: '5' } })
  const caFile = join(await newDirectory('ca'), 'ca.pem')
  writeFileSync(caFile, world.ca)
  const steady = startSteady(rate, walking(world.fetch))
  const p99: Record<'calm' | 'crowd', number[]> = { calm: [], crowd: [] }
  console.log(
    '| check-ins    | requests | failures |  p50 ms |  p99 ms |\n| --- | ---: | ---: | ---: | ---: |',
  )
  await Bun.sleep(3_000)
  for (let round = 0; round < ROUNDS; round++) {
    steady.take()
    await Bun.sleep(seconds * 1_000)
    const calm = steady.take()
    const readers = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, 'readers.ts'),
        `https://localhost:${world.port}`,
        caFile,
        `${rate * times}`,
      ],
      { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' },
    )
    await Bun.sleep(2_000)
    steady.take()
    await Bun.sleep(seconds * 1_000)
    const crowd = steady.take()
    await readers.stdin.end()
    const read = JSON.parse(await new Response(readers.stdout).text()) as Measured
    console.log(line('alone', calm))
    console.log(line('with a crowd', crowd))
    console.log(line('the crowd', read))
    p99.calm.push(calm.p99Ms)
    p99.crowd.push(crowd.p99Ms)
  }
  await steady.stop()
  await world.close()
  const median = (of: number[]) => of.sort((a, b) => a - b)[Math.floor(of.length / 2)]!
  console.log(
    `p99 of check-ins, median of ${ROUNDS} rounds: ${median(p99.calm).toFixed(1)} ms alone, ` +
      `${median(p99.crowd).toFixed(1)} ms with ${rate * times} reads a second: ` +
      `${(median(p99.crowd) / median(p99.calm)).toFixed(2)} times`,
  )
})
