/** `bun run bench`: measures speed and memory compared with upper limits and alternatives, in one run. */
import { cpus, release } from 'node:os'
import { readCommandLine, refuseCommandLine } from '#shared/runtime/command-line.ts'
import { besidePostgres } from '#tests/helpers/in-directory.ts'
import { ensurePrograms } from '#tests/helpers/programs.ts'
import type { Server } from '#tests/helpers/process.ts'
import { appTable, measureAppRows } from './app/costs.ts'
import { measureGrowth } from './growth.ts'
import { WRK } from './load.ts'
import { type Measured, measureRow, SCALES } from './measure.ts'
import { chart } from './report/chart.ts'
import { compare, differenceText, Run } from './report/compare.ts'
import { plan } from './report/plan.ts'
import { writePages } from './report/pages.ts'
import { rowText } from './report/table.ts'
import { ROWS } from './rows/rows.ts'

const USAGE = `Measures the service beside upper limits (a bare server, COPY) and alternatives (Fastify, Hono), in one run.

  bun run bench [options]

  --quick            a short run of some minutes (default: about half an hour)
  --only <rows>      only these rows, separated by commas
  --list             print the names of all rows, and measure nothing
  --json <file>      write the results to a file, for --compare
  --svg <file>       draw how far each figure is from its goal
  --write            write the figures of a whole run into README.md and tests/tools/bench/README.md
  --compare <file>   compare with an earlier run; a ratio that became worse by more than the noise fails the run;
                     of CPU, where both measured it
  --growth           measure cost by number of pilgrims and by number of points
  --app              only print what a phone with the app costs, by state, in simulated time
  --help             print this text

With the rows caddy and caddy-fresh it also prints the plan for a million walkers; a run of all rows prints --app, too.
Everything runs on loopback, on servers that the run starts. wrk is installed with apt where it is missing.
Exit codes: 0 measured, 1 a row failed or became slower, 2 wrong command line.`

const { values } = readCommandLine(USAGE, {
  quick: { type: 'boolean' },
  only: { type: 'string' },
  list: { type: 'boolean' },
  json: { type: 'string' },
  svg: { type: 'string' },
  write: { type: 'boolean' },
  compare: { type: 'string' },
  growth: { type: 'boolean' },
  app: { type: 'boolean' },
})

if (values.write && (values.only !== undefined || values.quick))
  refuseCommandLine(USAGE, '--write needs a whole run: leave out --only and --quick')

const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform} ${release()}, Bun ${Bun.version}`

/** Writes the results and their picture to the files given as options. */
async function write(rows: readonly Measured[]): Promise<void> {
  const at = new Date().toISOString()
  const run = { at, scale: values.quick ? 'quick' : 'full', machine, rows }
  if (values.json !== undefined) await Bun.write(values.json, `${JSON.stringify(run, null, 1)}\n`)
  if (values.svg !== undefined) await Bun.write(values.svg, chart(rows, `${at.slice(0, 10)}, ${machine}`))
}

async function measureAll(): Promise<{ rows: Measured[]; failed: boolean }> {
  const scale = SCALES[values.quick ? 'quick' : 'full']
  const only = values.only?.split(',')
  const unknown = only?.filter((id) => ROWS.every((row) => row.id !== id)) ?? []
  if (unknown.length > 0) throw new Error(`no row is called ${unknown.join(', ')}; --list names them`)
  const rows: Measured[] = []
  let failed = false
  for (const row of ROWS.filter(({ id }) => only?.includes(id) ?? true)) {
    try {
      const measured = await measureRow(row, scale)
      rows.push(measured)
      // After each row, so that an interrupted run is not lost.
      await write(rows)
      console.log(`\n${rowText(measured)}`)
    } catch (error) {
      // The other rows are still measured.
      failed = true
      console.error(`\n${row.title}: not measured\n`, error)
    }
  }
  return { rows, failed }
}

/** Whether nothing has become slower than in the run given by `--compare`. */
async function isNoSlower(rows: readonly Measured[]): Promise<boolean> {
  if (values.compare === undefined) return true
  const before = Run.parse(await Bun.file(values.compare).json())
  const differences = compare(before.rows, rows)
  console.log(`\nBeside the run of ${before.at}:`)
  for (const difference of differences) console.log(differenceText(difference))
  return differences.every(({ slower }) => !slower)
}

async function measure(postgres: Server): Promise<number> {
  console.log(machine)
  if (values.growth) {
    await measureGrowth(postgres, values.quick ?? false)
    return 0
  }
  const { rows, failed } = await measureAll()
  if (values.write && !failed) await writePages(rows)
  const walkers = plan(rows)
  if (walkers !== '') console.log(`\n${walkers}`)
  if (values.only === undefined) console.log(`\n${appTable(await measureAppRows())}`)
  return (await isNoSlower(rows)) && !failed ? 0 : 1
}

if (values.list) {
  for (const { id, title } of ROWS) console.log(`${id.padEnd(20)} ${title}`)
  process.exit(0)
}
if (values.app) {
  console.log(appTable(await measureAppRows()))
  process.exit(0)
}
await ensurePrograms([WRK])
process.exit(await besidePostgres('bench', measure))
