/**
 * `bun run bench`: how fast, beside what can not be beaten and what people would pick instead, in one run.
 *
 *   --quick              a look, in three minutes (the whole takes a quarter of an hour)
 *   --only <row>         one row (or more, with commas); --list names them
 *   --json <file>        the run, for --compare
 *   --svg <file>         the same as a picture
 *   --markdown           the table of this folder’s README, and behind it the plan for a million walkers, which is printed
 *                        wherever the rows `caddy` and `caddy-fresh` were measured
 *   --compare <file>     what has become slower than in that run, by more than the noise: exit code 1
 *   --growth             what each thing costs with more pilgrims, and with more points
 *
 * Everything runs on loopback, on servers of its own; apt installs wrk where it is missing.
 */
import { rmSync } from 'node:fs'
import { mkdtemp, rm, chmod } from 'node:fs/promises'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { killInside } from '#tests/helpers/signals.ts'
import { ensurePrograms, PROGRAMS } from '#tests/helpers/programs.ts'
import { startPostgres } from '#tests/helpers/servers.ts'
import { measureGrowth } from './growth.ts'
import { WRK } from './load.ts'
import { type Measured, measureRow, SCALES } from './measure.ts'
import { chart } from './report/chart.ts'
import { compare, differenceText, Run } from './report/compare.ts'
import { plan } from './report/plan.ts'
import { markdown, rowText } from './report/table.ts'
import { ROWS } from './rows/rows.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string' },
    list: { type: 'boolean' },
    json: { type: 'string' },
    svg: { type: 'string' },
    markdown: { type: 'boolean' },
    compare: { type: 'string' },
    growth: { type: 'boolean' },
  },
})

const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform} ${release()}, Bun ${Bun.version}`

/** Writes the run and its picture where they are wanted. */
async function keep(rows: readonly Measured[]): Promise<void> {
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
      // After each row: a run that is broken off is not lost.
      await keep(rows)
      console.log(`\n${rowText(measured)}`)
    } catch (error) {
      // The other rows are worth having.
      failed = true
      console.error(`\n${row.title}: not measured\n`, error)
    }
  }
  return { rows, failed }
}

/** Whether nothing has become slower than in the run that `--compare` names. */
async function isNoSlower(rows: readonly Measured[]): Promise<boolean> {
  if (values.compare === undefined) return true
  const before = Run.parse(await Bun.file(values.compare).json())
  const differences = compare(before.rows, rows)
  console.log(`\nBeside the run of ${before.at}:`)
  for (const difference of differences) console.log(differenceText(difference))
  return differences.every(({ slower }) => !slower)
}

async function main(): Promise<number> {
  if (values.list) {
    for (const { id, title } of ROWS) console.log(`${id.padEnd(20)} ${title}`)
    return 0
  }
  await ensurePrograms([...PROGRAMS, WRK])
  const directory = await mkdtemp(join(tmpdir(), 'pilgrimage-bench-'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      killInside(directory)
      rmSync(directory, { recursive: true, force: true })
      process.exit(130)
    })
  // Postgres may run as another user than the one whose directory this is.
  await chmod(directory, 0o711)
  process.env.TEST_DIRECTORY = directory
  const postgres = await startPostgres()
  process.env.TEST_POSTGRES_URL = postgres.url
  try {
    console.log(machine)
    if (values.growth) {
      await measureGrowth(postgres, values.quick ?? false)
      return 0
    }
    const { rows, failed } = await measureAll()
    if (values.markdown) console.log(`\n${markdown(rows)}`)
    const walkers = plan(rows)
    if (walkers !== '') console.log(`\n${walkers}`)
    return (await isNoSlower(rows)) && !failed ? 0 : 1
  } finally {
    await postgres.close()
    killInside(directory)
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

process.exit(await main())
