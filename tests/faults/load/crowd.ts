/**
 * Sends check-ins at a steady rate, alternately alone and beside a crowd of readers of the map. Prints the latency of
 * check-ins and the CPU use of each process: when all cores are busy, every process waits.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { median } from '#tests/tools/bench/measure.ts'
import { cpuSeconds } from '#tests/tools/bench/measured-processes.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { type OwnedTestStack, openOwnedTestStack } from '#tests/helpers/test-stack-real.ts'
import { type Measured, startSteady, type Steady, walking } from './steady.ts'

const USAGE = `Sends check-ins at a steady rate, alternately alone and while a larger crowd reads the map. Prints the latency of the
check-ins in both cases, and the CPU use of each process.

  bun tests/faults/load/crowd.ts [options]

  --rate <n>      check-ins per second (default: 30)
  --times <n>     reads of the crowd for each check-in (default: 20)
  --seconds <n>   length of each measurement (default: 10)
  --rounds <n>    measurements of each case (default: 6)
  --help          print this text`

const { values } = readCommandLine(USAGE, {
  rate: { type: 'string', default: '30' },
  times: { type: 'string', default: '20' },
  seconds: { type: 'string', default: '10' },
  rounds: { type: 'string', default: '6' },
})
const [rate, times, seconds, rounds] = [values.rate, values.times, values.seconds, values.rounds].map(
  Number,
) as [number, number, number, number]
/** Time before each measurement, while the crowd starts or stops. */
const SETTLING_MS = 1_500
const TICKS_PER_S = 100
/** Stores write to memory: waiting for a shared disk would hide the effect of the crowd. */
const IN_MEMORY = '/dev/shm'

/** CPU seconds of all processes of the machine. */
function machineCpuSeconds(): number {
  // Without idle and iowait, and without what guests used, which user and nice contain.
  const [user, nice, system, , , ...busy] = /^cpu +(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))![1]!
    .split(' ', 8)
    .map(Number)
  return [user!, nice!, system!, ...busy].reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_S
}

interface Round {
  readonly measured: Measured
  /** Cores that each process used. */
  readonly busy: Readonly<Record<string, number>>
}

async function measure(steady: Steady, busyS: () => Record<string, number>): Promise<Round> {
  await Bun.sleep(SETTLING_MS)
  steady.take()
  const before = busyS()
  await Bun.sleep(seconds * 1_000)
  const after = busyS()
  const busy = Object.entries(after).map(([name, s]) => [name, (s - before[name]!) / seconds])
  return { measured: steady.take(), busy: Object.fromEntries(busy) as Record<string, number> }
}

/** Starts the crowd as a process of its own. `read` sets its rate and returns what it has measured so far. */
function startReaders(url: string, caFile: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'readers.ts'), url, caFile], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  return {
    pid: child.pid,
    async read(perS: number): Promise<Measured | null> {
      await child.stdin.write(`${perS}\n`)
      await child.stdin.flush()
      return JSON.parse((await answers.read()).value ?? 'null') as Measured | null
    },
    async stop() {
      await child.stdin.end()
      await child.exited
    },
  }
}

const ms = (figure: number): string => figure.toFixed(1).padStart(7)

/** Median, minimum and maximum over the rounds. */
const spread = (of: readonly number[]): string =>
  `${median(of).toFixed(1)} (${Math.min(...of).toFixed(1)} – ${Math.max(...of).toFixed(1)})`

function show(name: string, { measured: { requests, failures, p50Ms, p99Ms }, busy }: Round): void {
  const parts = Object.entries(busy).map(([part, cores]) => `${part} ${cores.toFixed(2)}`)
  console.log(
    `| ${name.padEnd(12)} | ${`${requests}`.padStart(6)} | ${`${failures}`.padStart(6)} | ${ms(p50Ms)} | ${ms(p99Ms)} | ${parts.join(', ')} |`,
  )
}

async function run(stack: OwnedTestStack): Promise<void> {
  const caFile = join(await newDirectory('ca'), 'ca.pem')
  writeFileSync(caFile, stack.ca)
  const readers = startReaders(`https://localhost:${stack.port}`, caFile)
  const pids = {
    tracking: [stack.service('tracking').pid, stack.service('tracking', 1).pid],
    redis: [stack.redis.pid],
    caddy: [stack.caddy.pid],
    readers: [readers.pid],
    phones: [process.pid],
  }
  const busyS = () => ({
    all: machineCpuSeconds(),
    ...Object.fromEntries(
      Object.entries(pids).map(([name, of]) => [name, of.reduce((sum, pid) => sum + cpuSeconds(pid), 0)]),
    ),
  })
  const steady = startSteady(rate, walking(stack.fetch))
  const found: Record<'alone' | 'with a crowd', Round[]> = { alone: [], 'with a crowd': [] }
  console.log(
    '| check-ins    |    all | failed |  p50 ms |  p99 ms | cores busy |\n| --- | ---: | ---: | ---: | ---: | --- |',
  )
  // A warm-up: compilation is not measured.
  await readers.read(rate)
  await Bun.sleep(5_000)
  for (let round = 0; round < rounds; round++)
    // The order A B, B A, A B … cancels a trend over time.
    for (const kind of round % 2 === 0
      ? (['alone', 'with a crowd'] as const)
      : (['with a crowd', 'alone'] as const)) {
      await readers.read(kind === 'alone' ? 0 : rate * times)
      const measured = await measure(steady, busyS)
      found[kind].push(measured)
      show(kind, measured)
    }
  const read = await readers.read(0)
  await readers.stop()
  await steady.stop()
  const p99 = (of: readonly Round[]) => of.map(({ measured }) => measured.p99Ms)
  const [alone, crowd] = [p99(found.alone), p99(found['with a crowd'])]
  if (read !== null) console.log(`The last crowd: ${JSON.stringify(read)}`)
  console.log(
    `p99 of check-ins at ${rate} a second on ${cpus().length} cores, median of ${rounds} rounds: ${spread(alone)} ms alone, ` +
      `${spread(crowd)} ms with ${rate * times} reads a second: ${(median(crowd) / median(alone)).toFixed(2)} times`,
  )
}

await inDirectory(
  'crowd',
  async () => {
    const stack = await openOwnedTestStack({ settings: { EVENT_FLUSH_SECONDS: '5' } })
    try {
      await run(stack)
    } finally {
      await stack.close()
    }
  },
  existsSync(IN_MEMORY) ? IN_MEMORY : undefined,
)
