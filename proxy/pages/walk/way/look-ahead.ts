/** What lies ahead of the pilgrim on the route, from what this device knows. */
import { computed } from '@preact/signals'
import { lastFix } from '../recording/recorder.ts'
import { ownTrail } from '../recording/own-trail.ts'
import { person } from '../session/person.ts'
import { now } from '../session/clock.ts'
import { profile } from '../session/service.ts'
import { openDays } from './kept-days.ts'
import { lastPlaces, readRoute, readWay, route } from './own-way.ts'
import { type Ahead, aheadOf, minutesToPace, paceOf } from './stations.ts'

/** A place of yesterday says nothing about today. */
const RECENT_MS = 12 * 3_600_000
/** The watch gives a position each second; what lies ahead does not change so fast. */
const FIX_EVERY_MS = 15_000

export interface Look {
  /** Own pace in km/h; null: not known yet. */
  readonly kmh: number | null
  /** Minutes to walk until the pace is known. */
  readonly paceInMinutes: number
  /** When the pilgrim was there, in epoch milliseconds; null: nobody knows where they are. */
  readonly placeMs: number | null
  /** Null without a place. */
  readonly ahead: Ahead | null
}

/** The way so far, as the service has counted it, and then as this device has recorded it. */
const walked = computed(() => {
  const counted = lastPlaces.value.map(({ t, lat, lng }) => ({ t: Date.parse(t), lat, lng }))
  const countedMs = counted.at(-1)?.t ?? -Infinity
  return [...counted, ...ownTrail().filter(({ t }) => t > countedMs)]
})

let heldFix: typeof lastFix.value = null
const fixNow = computed(() => {
  const fix = lastFix.value
  if (fix === null || heldFix === null || Math.abs(fix.t - heldFix.t) >= FIX_EVERY_MS) heldFix = fix
  return heldFix
})

const isRecent = (t: number | undefined): boolean => t !== undefined && now() - t <= RECENT_MS

/** @returns null: the event has no stations, or this device has not read them yet */
export function lookAhead(): Look | null {
  const given = route.value
  if (given === null || given.stations.length === 0) return null
  const places = walked.value
  // A check-in, or another app's point, may be newer than what this page has recorded.
  const here = [places.at(-1), fixNow.value].flatMap((one) => one ?? []).toSorted((a, b) => b.t - a.t)[0]
  if (here === undefined || !isRecent(here.t))
    return { kmh: null, paceInMinutes: minutesToPace([]), placeMs: null, ahead: null }
  // The service may know only the last minutes of what this device has recorded.
  const kmh = paceOf(places) ?? paceOf(ownTrail())
  const paceInMinutes = Math.min(minutesToPace(places), minutesToPace(ownTrail()))
  return { kmh, paceInMinutes, placeMs: here.t, ahead: aheadOf(given, { walked: places, here, kmh }, now()) }
}

/** Another phone or app has recorded what tells the pace: the way is read, so that every view tells the same times. */
export const needsWay = computed(() => (profile.value?.km ?? 0) > 0 && paceOf(ownTrail()) === null)

/** Reads the route, and the own way where this device alone does not know the pace. */
export async function readAhead(): Promise<void> {
  openDays(person.value?.userId ?? '')
  await readRoute()
  if (needsWay.value) await readWay()
}

export const aheadFailed = (): boolean => route.peek() === null
