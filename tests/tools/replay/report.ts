/** The report of a replay: the file, the counters, the pilgrim. All functions are pure and return lines. */
import { time } from '#shared/contracts/fields.ts'
import type { Profile } from '#shared/contracts/profile.ts'
import type { RecordedFile, RecordedPoint } from '#shared/core/recorded-file/read-recorded-file.ts'
import { isRough } from '#shared/core/rules/geo.ts'
import { fold, START } from '#shared/core/distance/points-to-distance.ts'

/** Counters of the service's answers so far; `rejected` by reason. */
export interface Tally {
  accepted: number
  duplicates: number
  readonly rejected: Record<string, number>
}

/** Number of rejected points, for all reasons. */
export const rejectedIn = ({ rejected }: Tally): number =>
  Object.values(rejected).reduce((sum, points) => sum + points, 0)

/** `1,013 accepted, 13 duplicates, 2 rejected (too-old 2)` */
export function countersLine(tally: Tally): string {
  const reasons = Object.entries(tally.rejected).map(([reason, points]) => `${reason} ${count(points)}`)
  return [
    `${count(tally.accepted)} accepted`,
    `${count(tally.duplicates)} duplicates`,
    `${count(rejectedIn(tally))} rejected${reasons.length === 0 ? '' : ` (${reasons.join(', ')})`}`,
  ].join(', ')
}

/** Describes the file; length and carbon are computed by the rules of the service. */
export function recordingLines(recording: RecordedFile): string[] {
  const { points, tracks, segments } = recording
  const { km, kg } = recompute(points)
  const [from, to] = [points[0]!.t, points.at(-1)!.t]
  return [
    `points      ${count(points.length)} (tracks: ${tracks}, segments: ${segments})`,
    `left out    ${leftOutLine(recording)}`,
    `recorded    ${time(from)} to ${time(to)} (${duration(to - from)})`,
    `length      ${km.toFixed(2)} km`,
    `carbon      ${kg.toFixed(3)} kg CO2e, modes by speed`,
  ]
}

/** Points of the file that are not sent, and corrected times. */
export const leftOutLine = ({ leftOut, redated }: RecordedFile): string =>
  [
    `${count(leftOut.untimed)} without a time`,
    `${count(leftOut.misplaced)} without a place`,
    `${count(leftOut.repeated)} at an instant already taken`,
    `${count(leftOut.early + leftOut.late)} with a wrong time`,
    ...(redated === 0 ? [] : [`${count(redated)} dated 1,024 weeks early were corrected`]),
  ].join(', ')

/** Kilometres and kg CO2e that the service counts for a pilgrim who sends exactly these points. */
export function recompute(points: readonly RecordedPoint[]): { readonly km: number; readonly kg: number } {
  let [mm, mg] = [0, 0]
  const track = points.map(({ lat, lng, t, accuracy }) => ({
    lat,
    lng,
    t,
    sentMs: t,
    kind: 't' as const,
    mode: null,
    rough: isRough({ lat, lng, accuracy }),
  }))
  fold(START, track, ({ distanceMm, carbonMg }) => {
    mm += distanceMm
    mg += carbonMg
  })
  return { km: mm / 1e6, kg: mg / 1e6 }
}

/** Formats a profile. */
export function profileLines(profile: Profile): string[] {
  const { level_name: name, next_level: next } = profile
  return [
    `pilgrim     ${profile.userId}${profile.display_name === null ? '' : ` (${profile.display_name})`}`,
    `distance    ${profile.km.toFixed(2)} km`,
    `check-ins   ${count(profile.checkins)}`,
    `level       ${profile.level} ${profile.icon} ${name.zh} / ${name.en}`,
    `next        ${next === null ? 'nothing: the highest level' : `level ${next.level} after ${next.km_needed.toFixed(2)} km and ${next.checkins_needed} check-ins more`}`,
    `carbon      ${profile.carbon_kg.toFixed(3)} kg CO2e (${profile.carbon_saved_kg.toFixed(3)} kg saved against the bus)`,
    `seen        ${profile.first_seen ?? 'never'} to ${profile.last_seen ?? 'never'}`,
  ]
}

/** `3 h 42 min` */
function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const count = (value: number): string => value.toLocaleString('en-US')
