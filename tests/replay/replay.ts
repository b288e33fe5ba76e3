/** `bun run replay`: sends a recorded walk to the service, for demonstrations, imports and rehearsals. */
import { environment } from '#shared/runtime/config/config.ts'
import { time } from '#shared/contracts/fields.ts'
import type { CheckInAnswer } from '#shared/contracts/tracking.ts'
import { createPhone, type Phone } from './phone.ts'
import { ReplayFault } from './replay-error.ts'
import { parseGpx, type Recording } from './gpx.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import { type Plan, planReplay } from './plan-requests.ts'
import {
  NOTHING_SENT,
  profileLines,
  recordingLines,
  rejectedIn,
  skippedLine,
  type Tally,
  addAnswer,
  countersLine,
} from './report.ts'
import { createScreen, type Screen } from './terminal.ts'
import { trustFor } from './trusted-certificates.ts'

/** Maximum age of a profile's statistics (60 s), and one second for the transfer. */
const SETTLE_MS = 61_000

/**
 * Runs the command.
 * @param settings where the embedded run keeps its data and listens, for the defaults
 * @returns the exit code: 0 all points stored, 1 refused or failed, 2 wrong command line
 */
export async function replay(
  argv: readonly string[],
  settings: { readonly dataDir: string; readonly port: string },
  screen: Screen,
): Promise<0 | 1 | 2> {
  try {
    const options = parseOptions(argv, `https://localhost:${settings.port}`)
    if (options !== null) return await run(options, settings.dataDir, screen)
    screen.print(USAGE)
    return 0
  } catch (error) {
    if (!(error instanceof ReplayFault)) throw error
    screen.note(error.exitCode === 2 ? `${error.message} (--help lists all options)` : error.message)
    return error.exitCode
  }
}

async function run(options: Options, dataDir: string, screen: Screen): Promise<0 | 1> {
  const recording = parseGpx(await readTrack(options.file))
  const plan = planReplay(recording, options, Date.now())
  if (options.dryRun) {
    for (const line of recordingLines(recording)) screen.print(line)
    screen.print(`requests    ${plan.steps.length}, the track moved to end at ${time(plan.endMs)}`)
    return 0
  }
  const tls = await trustFor(options, dataDir)
  const phone = createPhone({ ...options, tls, wait: (ms, why) => screen.wait(ms, why) })
  announce(recording, plan, options, screen)
  const tally = await send(plan, options, phone, screen)
  screen.print(`track       ${countersLine(tally)}`)
  const whole = rejectedIn(tally) === 0
  if (!whole) screen.note('Rejected points are not stored. If it is for their time: --ends moves the track.')
  if (options.settle) await screen.wait(SETTLE_MS, 'Statistics may be 60 s old.')
  for (const line of profileLines(await phone.profile(options.user))) screen.print(line)
  if (!options.settle) screen.note('Statistics may be 60 s old; --settle waits until they cannot be.')
  return whole ? 0 : 1
}

function announce(recording: Recording, plan: Plan, options: Options, screen: Screen): void {
  screen.note(
    `${options.file}: ${recording.points.length} points; skipped: ${skippedLine(recording.skipped)}`,
  )
  screen.note(`Sending to ${options.url} as ${options.user}, the track moved to end at ${time(plan.endMs)}`)
  if (options.seed !== null) screen.note(`Random order: --shuffle --seed ${options.seed}`)
  if (options.half !== null) {
    screen.note(`The other half belongs to it with --half ${3 - options.half} ${sameTimes(options, plan)}`)
  }
}

/** Sends all steps, each when it is due. An error message says how to continue without counting points twice. */
async function send(plan: Plan, options: Options, phone: Phone, screen: Screen): Promise<Tally> {
  const start = performance.now()
  let tally = NOTHING_SENT
  let done = 0
  try {
    for (const step of plan.steps) {
      await screen.pause(start + step.dueMs - performance.now())
      if (step.kind === 'check-in') {
        noteCheckIn(await phone.checkIn(step.body), screen)
      } else {
        tally = addAnswer(tally, await phone.sync(step.body))
        done += step.body.points.length
        screen.progress(done, plan.points, countersLine(tally))
      }
    }
  } catch (error) {
    if (!(error instanceof ReplayFault)) throw error
    throw new ReplayFault(
      `${error.message}\nSo far: ${countersLine(tally)}. To go on, add ${sameTimes(options, plan)}: what is stored counts once.`,
    )
  }
  return tally
}

function noteCheckIn({ recorded_at: at, duplicate, in_range: inRange }: CheckInAnswer, screen: Screen): void {
  screen.note(`Check-in at ${at}${duplicate ? ' (a duplicate, counted once)' : ''}`)
  if (!inRange) screen.note('It lies outside the event’s area: stored, but it counts for nothing.')
}

/** The option that gives another run the same timestamps, so that its points are duplicates. */
const sameTimes = ({ end }: Options, { endMs }: Plan): string =>
  end === 'recorded' ? '--keep-time' : `--ends ${time(endMs)}`

async function readTrack(path: string): Promise<string> {
  try {
    return await Bun.file(path).text()
  } catch (error) {
    throw new ReplayFault(`The file cannot be read: ${(error as Error).message}`)
  }
}

if (import.meta.main) {
  const settings = {
    dataDir: environment().EVENT_DATA_DIR || './data',
    port: environment().EVENT_PORT || '8443',
  }
  process.exitCode = await replay(
    process.argv.slice(2),
    settings,
    createScreen(process.stdout, process.stderr),
  )
}
