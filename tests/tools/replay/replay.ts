/** `bun run replay`: sends a recorded walk to the service, for demonstrations, imports and rehearsals. */
import { environment } from '#shared/runtime/config/config.ts'
import { time } from '#shared/contracts/fields.ts'
import { createClient } from '#shared/client/create-client.ts'
import { createLiveLine } from '#tests/helpers/live-line.ts'
import { type Options, readOptions } from './options.ts'
import type { RecordedFile } from '#shared/core/recorded-file/read-recorded-file.ts'
import { readWalk } from './read-walk.ts'
import { persist, ReplayFault, trustFor } from './phone.ts'
import { type Plan, planReplay } from './plan-requests.ts'
import { countersLine, leftOutLine, profileLines, recordingLines, rejectedIn, type Tally } from './report.ts'

/** Timeout of a request; longer than the timeout of the proxy. */
const ANSWER_MS = 30_000
const BAR = 24

const { EVENT_DATA_DIR, EVENT_PORT } = environment()
/** Results go to stdout; the progress, on stderr, is drawn again in place on a terminal. */
const line = createLiveLine(process.stderr)
const print = (text: string): void => {
  line.clear()
  process.stdout.write(`${text}\n`)
}

const options = readOptions(`https://localhost:${EVENT_PORT || '8443'}`)
process.exitCode = await run(options).catch((error: unknown) => {
  if (!(error instanceof ReplayFault)) throw error
  line.note(error.message)
  return 1 as const
})

async function run({ file, user, url, dryRun, ...others }: Options): Promise<0 | 1> {
  const recording = await readWalk(file)
  const plan = planReplay(recording, { user, ...others }, Date.now())
  if (dryRun) {
    for (const text of recordingLines(recording)) print(text)
    print(`requests    ${plan.steps.length}, the track moved to end at ${time(plan.endMs)}`)
    return 0
  }
  const tls = await trustFor(options, EVENT_DATA_DIR || './data')
  const client = createClient({
    baseUrl: url,
    timeoutMs: ANSWER_MS,
    fetch: (address, init) => fetch(address, { ...init, tls, redirect: 'manual' }),
  })
  announce(recording, plan)
  const tally = await send(plan, client)
  print(`track       ${countersLine(tally)}`)
  const isWhole = rejectedIn(tally) === 0
  if (!isWhole) line.note('Rejected points are not stored. If it is for their time: --ends moves the track.')
  const profile = await persist(url, () => client.readProfile({ userId: user }), wait)
  for (const text of profileLines(profile)) print(text)
  return isWhole ? 0 : 1
}

function announce(recording: RecordedFile, plan: Plan): void {
  const { file, url, user, half } = options
  line.note(`${file}: ${recording.points.length} points; left out: ${leftOutLine(recording)}`)
  line.note(`Sending to ${url} as ${user}, the track moved to end at ${time(plan.endMs)}`)
  if (half !== null) line.note(`The other half belongs to it with --half ${3 - half} ${sameTimes(plan)}`)
}

async function wait(ms: number, why: string): Promise<void> {
  line.note(`${why} Waiting ${Math.ceil(ms / 1_000)} s.`)
  await Bun.sleep(ms)
}

/** Sends all steps when they are due. An error message says how to continue without counting points twice. */
async function send(plan: Plan, client: ReturnType<typeof createClient>): Promise<Tally> {
  const { url } = options
  const startMs = performance.now()
  const tally: Tally = { accepted: 0, duplicates: 0, rejected: {} }
  let done = 0
  try {
    for (const step of plan.steps) {
      await Bun.sleep(Math.max(0, startMs + step.dueMs - performance.now()))
      if (step.kind === 'check-in') {
        const { recorded_at, duplicate, in_range } = await persist(url, () => client.checkIn(step.body), wait)
        line.note(`Check-in at ${recorded_at}${duplicate ? ' (a duplicate, counted once)' : ''}`)
        if (!in_range) line.note('It lies outside the event’s area: stored, but it counts for nothing.')
        continue
      }
      const { accepted, duplicates, rejected } = await persist(url, () => client.syncTrack(step.body), wait)
      tally.accepted += accepted
      tally.duplicates += duplicates
      for (const { reason } of rejected) tally.rejected[reason] = (tally.rejected[reason] ?? 0) + 1
      done += step.body.points.length
      line.show(`${bar(done / plan.points)} ${countersLine(tally)}`)
    }
  } catch (error) {
    if (!(error instanceof ReplayFault)) throw error
    throw new ReplayFault(
      `${error.message}\nSo far: ${countersLine(tally)}. To go on, add ${sameTimes(plan)}: what is stored counts once.`,
    )
  }
  return tally
}

/** The option that gives another run the same timestamps, so that its points are duplicates. */
function sameTimes({ endMs }: Plan): string {
  return options.end === 'recorded' ? '--keep-time' : `--ends ${time(endMs)}`
}

/** `[██████░░░░]  60 %` */
function bar(share: number): string {
  const filled = Math.floor(share * BAR)
  return `[${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}] ${Math.floor(100 * share)} %`
}
