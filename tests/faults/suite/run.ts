/**
 * `bun run test:faults`: breaks one part after another under a stream of requests, and checks what is stored.
 */
import { readCommandLine } from '#shared/runtime/command-line.ts'
import { inDirectory } from '#tests/helpers/in-directory.ts'
import { type TestSystem, openTestSystem } from './test-system.ts'
import { differences } from './check-balance.ts'
import { isGood, type Outcome, runFault, type Timing } from './run-fault.ts'
import { openClusterSystem } from './cluster.ts'
import type { Fault } from './fault.ts'
import { FAULTS } from './faults.ts'
import { assignVolunteers } from './operators.ts'

const USAGE = `Breaks one part of the service after another under a stream of requests, and compares what is stored with what
was answered. Takes about 20 minutes.

  bun run test:faults [options]

  --core          only the kill -9 of each part (2.5 minutes)
  --only <text>   faults whose name contains the text; may be given several times
  --seed <n>      repeat an earlier run (default: a new seed)
  --phones <n>    phones for each fault (default: 40)
  --json <file>   write the results to a file too
  --help          print this text

Exit codes: 0 all recovered, 1 something was lost, doubled, or answered wrongly, 2 wrong command line.`

const { values } = readCommandLine(USAGE, {
  core: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true, default: [] },
  seed: { type: 'string', default: `${Math.floor(Math.random() * 1e9)}` },
  phones: { type: 'string', default: '40' },
  json: { type: 'string' },
})
const seed = Number(values.seed)
const timing: Timing = { phones: Number(values.phones), calmMs: 2_000, holdMs: 2_000, freezeMs: 20_000 }

/** Differences that a rebuild would correct. */
let differing = 0
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => (isInterrupted = true))

const isChosen = ({ name, group }: Fault): boolean => {
  if (values.only.length > 0) return values.only.some((part) => name.includes(part))
  return !values.core || group === 'kill'
}

async function runAll(faults: readonly Fault[], open: () => Promise<TestSystem>): Promise<Outcome[]> {
  if (faults.length === 0) return []
  const outcomes: Outcome[] = []
  const system = await open()
  try {
    await assignVolunteers(system)
    for (const fault of faults) {
      if (isInterrupted) break
      if (fault.possible?.(system) === false) {
        console.warn(`SKIPPED here: ${fault.name}`)
        continue
      }
      const outcome = await runFault(system, fault, FAULTS.indexOf(fault), seed, timing)
      outcomes.push(outcome)
      console.log(`${isGood(outcome) ? 'good' : 'BAD '} ${progress(outcome)}`)
      for (const line of complaints([outcome])) console.log(line)
    }
    for (const line of await differences(system)) {
      differing++
      console.log(`a rebuild finds: ${line}`)
    }
  } finally {
    await system.close()
  }
  return outcomes
}

const progress = ({ fault, requests, lost, doubled, servingS, settledS, statuses }: Outcome): string =>
  `${fault}: ${requests} requests ${JSON.stringify(statuses)}, ${lost} lost, ${doubled} doubled, ` +
  `serves after ${servingS} s, settled after ${settledS} s`

const seconds = (figure: number | null): string => (figure === null ? 'not' : figure.toFixed(1))

const COLUMNS: readonly (readonly [title: string, cell: (outcome: Outcome) => string])[] = [
  ['fault', ({ fault }) => fault],
  ['requests', ({ requests }) => `${requests}`],
  ['answered', ({ answered }) => `${answered}`],
  ['stored', ({ stored }) => `${stored}`],
  ['lost', ({ lost }) => `${lost}`],
  ['doubled', ({ doubled }) => `${doubled}`],
  ['s to serve', ({ servingS }) => seconds(servingS)],
  ['s to settle', ({ settledS }) => seconds(settledS)],
]

/** The table as markdown. */
function table(outcomes: readonly Outcome[]): string {
  const rows = [
    COLUMNS.map(([title]) => title),
    COLUMNS.map((_, i) => (i === 0 ? '---' : '---:')),
    ...outcomes.map((outcome) => COLUMNS.map(([, cell]) => cell(outcome))),
  ]
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A line for each complaint. */
const complaints = (outcomes: readonly Outcome[]): string[] =>
  outcomes.flatMap(({ fault, complaints: all }) => all.map((one) => `  ${fault}: ${one}`))

async function main(): Promise<boolean> {
  const startedMs = performance.now()
  console.log(`bun run test:faults --seed ${seed}`)
  const chosen = FAULTS.filter(isChosen)
  const outcomes = [
    ...(await runAll(
      chosen.filter(({ group }) => group !== 'cluster'),
      openTestSystem,
    )),
    ...(await runAll(
      chosen.filter(({ group }) => group === 'cluster'),
      openClusterSystem,
    )),
  ]
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  console.log(`\n${table(outcomes)}\n\n${outcomes.length} faults in ${minutes} min, seed ${seed}`)
  if (values.json !== undefined) await Bun.write(values.json, `${JSON.stringify(outcomes, null, 2)}\n`)
  const bad = outcomes.filter((outcome) => !isGood(outcome))
  for (const line of complaints(bad)) console.log(line)
  console.log(bad.length === 0 ? 'All faults recovered.' : `${bad.length} faults did not recover.`)
  console.log(`A rebuild finds ${differing} differences.`)
  return outcomes.length > 0 && bad.length + differing === 0
}

process.exit((await inDirectory('faults', main)) ? 0 : 1)
