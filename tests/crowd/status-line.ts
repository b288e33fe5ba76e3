/** The demo's progress, in words. Pure functions. */
import { HOUR_S } from './procession.ts'
import type { Tally } from './tally.ts'
import type { Timetable } from './timetable.ts'

/** What the service says of itself; null until it was asked. */
export interface Figures {
  readonly points: number
  readonly checkIns: number
  readonly km: number
}

const count = (value: number): string => Math.round(value).toLocaleString('en-US')
const sum = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((all, n) => all + n, 0)

/** `day 7 05:40` */
export const walkTime = (atS: number): string => {
  const minutes = Math.floor((atS % (24 * HOUR_S)) / 60)
  const clock = [Math.floor(minutes / 60), minutes % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
  return `day ${Math.floor(atS / HOUR_S / 24) + 1} ${clock}`
}

/**
 * One line: the simulated time, what was sent, and what the service shows.
 * @param isBehind whether the crowd waits until the service has stored what it has
 */
export function statusLine(
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

/** What became of everything, at the end. */
export const summaryLines = (tally: Tally): string[] => [
  `points      ${count(tally.recorded)} measured, ${count(tally.points)} stored (${count(tally.checkIns)} check-ins), ` +
    `${count(sum(tally.rejected))} rejected${tally.rejected.size === 0 ? '' : ` (${listOf(tally.rejected)})`}`,
  `repeated    ${count(tally.duplicates)} answered as duplicates`,
  `people      ${count(tally.followers)} follow the bot, ${count(tally.photos)} photos, ${count(tally.surveys)} surveys, ` +
    `${count(tally.feedback)} reports`,
  ...(tally.retried.size === 0 ? [] : [`sent again  ${listOf(tally.retried)}`]),
  ...(tally.refused.size === 0 ? [] : [`refused     ${listOf(tally.refused)}`]),
]
