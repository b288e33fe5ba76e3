/** `bun run demo`: a pilgrimage with a simulated crowd, on its own service or a running one. */
import { environment } from '#shared/runtime/config/config.ts'
import { createCrowd } from './crowd.ts'
import { type FlushWatch, watchFlush } from './flush-watch.ts'
import { type Options, readOptions } from './options.ts'
import { pause } from './phone.ts'
import type { Person } from './person.ts'
import { runCrowd } from './run-crowd.ts'
import { openTarget, type Target } from './open-target.ts'
import { createTally, type Tally } from './tally.ts'
import { chooseTimetable, type Timetable } from './timetable.ts'
import { fetchWay, readWay } from './way.ts'
import { createClient } from '#shared/client/index.ts'
import { ReplayFault } from '../replay/phone.ts'
import type { LineServer } from '#tests/helpers/line-server.ts'
import { createLiveLine, type LiveLine } from '#tests/helpers/live-line.ts'
import { HOUR_S } from './procession.ts'

/** Figures reported by the service; null until they are read. */
interface Figures {
  readonly points: number
  readonly checkIns: number
  readonly km: number
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US')
const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, n) => all + n, 0)

/** `day 7 05:40` */
const walkTime = (atS: number): string => {
  const minutes = Math.floor((atS % (24 * HOUR_S)) / 60)
  const clock = [Math.floor(minutes / 60), minutes % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
  return `day ${Math.floor(atS / HOUR_S / 24) + 1} ${clock}`
}

/**
 * One line: the simulated time, the sent data, and the service's figures.
 * @param isBehind whether the crowd waits until the service has stored its data
 */
function statusLine(
  atS: number,
  { fromS, departureMs }: Timetable,
  tally: Tally,
  figures: Figures | null,
  isBehind: boolean,
  nowMs: number,
): string {
  const when =
    atS <= fromS && fromS > 0
      ? `the days before: ${Math.floor((100 * atS) / fromS)} %`
      : `${walkTime(atS)}${departureMs + atS * 1_000 > nowMs - 60_000 ? ' (now)' : ''}`
  const held = tally.recorded - tally.points - sum(tally.rejected)
  return [
    when,
    ...(figures === null
      ? []
      : [
          `reports: ${count(figures.points)} points, ${count(figures.checkIns)} check-ins, ${count(figures.km)} km`,
        ]),
    `${count(tally.points)} sent, ${count(held)} on phones`,
    ...(isBehind ? ['the crowd waits while the service stores'] : []),
    `${count(tally.photos)} photos`,
    `${count(tally.surveys)} surveys`,
    ...(tally.callsWaiting > 0 ? [`${count(tally.callsWaiting)} other calls wait`] : []),
    ...(sum(tally.retried) > 0 ? [`retries: ${listOf(tally.retried)}`] : []),
  ].join(' · ')
}

const listOf = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, n]) => `${name} ${count(n)}`).join(', ')

/** The final results. */
const summaryLines = (tally: Tally): string[] => [
  `points      ${count(tally.recorded)} measured, ${count(tally.points)} stored (${count(tally.checkIns)} check-ins), ` +
    `${count(sum(tally.rejected))} rejected${tally.rejected.size === 0 ? '' : ` (${listOf(tally.rejected)})`}`,
  `repeated    ${count(tally.duplicates)} answered as duplicates`,
  `people      ${count(tally.followers)} follow the bot, ${count(tally.photos)} photos, ${count(tally.surveys)} surveys, ` +
    `${count(tally.feedback)} reports`,
  ...(tally.retried.size === 0 ? [] : [`sent again  ${listOf(tally.retried)}`]),
  ...(tally.refused.size === 0 ? [] : [`refused     ${listOf(tally.refused)}`]),
]

const SHOW_EVERY_MS = 1_000
/** Leaves most of the token's rate limit to people who use the same token. */
const ASK_EVERY_MS = 10_000
/** A flush takes longer than its interval on a slow computer. */
const FLUSH_SLACK_MS = 25_000

async function walk(
  options: Options,
  timetable: Timetable,
  target: Target,
  line: LiveLine,
  stopping: AbortController,
): Promise<0 | 1> {
  const { signal } = stopping
  const { pilgrims, seed, maxPoints, pointsOnly, ownRoute } = options
  const { url: address, fetch: send } = target
  const way = ownRoute ? await fetchWay(createClient({ baseUrl: address, fetch: send })) : readWay()
  const crowd = createCrowd({ pilgrims, seed, way, sparseUntilS: timetable.fromS })
  if (target.line !== null) tellLine(target.line, crowd.people)
  const tally = createTally()
  let atS = 0
  let figures: Figures | null = null
  const done = new AbortController()
  const ending = AbortSignal.any([signal, done.signal])
  const flushes = pointsOnly ? null : watchOwn(target, ending)
  const show = () =>
    line.show(statusLine(atS, timetable, tally, figures, flushes?.isBehind ?? false, Date.now()))
  const showing = setInterval(show, SHOW_EVERY_MS)
  const asking = ask(target, ending, (asked) => (figures = asked))
  let isLost = false
  const notice = () => {
    isLost = !signal.aborted && !done.signal.aborted
    stopping.abort()
  }
  void target.own?.ended.then(notice, notice)
  try {
    const { url: baseUrl, fetch, lineSecret } = target
    const passed = (now: number) => (atS = now)
    const sending = { baseUrl, fetch, lineSecret, tally, maxPoints, pointsOnly, signal, passed }
    await runCrowd({ crowd, timetable, ...sending, ready: flushes?.caughtUp })
    show()
    if (target.own !== null && !options.exits && !signal.aborted) {
      line.note('Everybody is home. The service stays up until Ctrl-C.')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    }
  } finally {
    clearInterval(showing)
    done.abort()
    await asking
    line.clear()
  }
  for (const text of summaryLines(tally)) console.log(text)
  if (isLost) throw lostService(target)
  const kept = target.own?.keptIn
  if (kept) line.note(`The data stays in ${kept}`)
  return tally.refused.size === 0 ? 0 : 1
}

/** The flush interval is known only for the demo's own service; another service throttles phones itself. */
function watchOwn({ own, url, fetch }: Target, signal: AbortSignal): FlushWatch | null {
  if (own === null) return null
  const limitMs = own.flushSeconds * 1_000 + FLUSH_SLACK_MS
  return watchFlush(createClient({ baseUrl: url, fetch }), { limitMs, signal })
}

/** One in this many people with a LINE account, who never write to the bot, has deleted it. */
const DELETED_EVERY = 10

/** Creates the crowd's accounts. Some are deleted, so that a message to everyone also fails for someone. */
function tellLine({ profiles, gone }: LineServer, people: readonly Person[]): void {
  for (const { userId, name, language, follows } of people)
    if (follows) profiles.set(userId, { displayName: name, language })
  const silent = people.filter(({ userId, follows }) => !follows && userId.startsWith('U'))
  for (const [i, { userId }] of silent.entries()) if (i % DELETED_EVERY === 0) gone.add(userId)
}

const lostService = ({ own }: Target): ReplayFault =>
  new ReplayFault(`The service has ended by itself.${own?.keptIn ? ` Its data is in ${own.keptIn}.` : ''}`)

/** Polls the service's figures until the signal aborts. */
async function ask(
  { url, fetch, token }: Target,
  signal: AbortSignal,
  told: (figures: Figures) => void,
): Promise<void> {
  if (token === null) return
  const client = createClient({ baseUrl: url, fetch, token })
  while (!signal.aborted) {
    const answer = await client.readTimeline({}, { signal })
    if (answer.ok) {
      const of = (figure: 'points' | 'checkins' | 'km') =>
        answer.data.days.reduce((sum, day) => sum + day[figure], 0)
      told({ points: of('points'), checkIns: of('checkins'), km: of('km') })
    }
    await pause(ASK_EVERY_MS, signal)
  }
}

async function demo(stopping: AbortController): Promise<0 | 1> {
  const options = readOptions()
  const line = createLiveLine(process.stderr)
  try {
    const timetable = chooseTimetable(options.from, options.speed, Date.now())
    const target = await openTarget(options, environment(), timetable.departureMs, line, stopping.signal)
    try {
      return await walk(options, timetable, target, line, stopping)
    } finally {
      await target.own?.stop()
      await target.line?.stop()
    }
  } catch (error) {
    if (!(error instanceof ReplayFault)) throw error
    if (stopping.signal.aborted) return 0
    line.note(error.message)
    return 1
  }
}

const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
process.exit(await demo(stopping))
