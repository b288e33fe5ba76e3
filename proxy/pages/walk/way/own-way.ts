/**
 * The pilgrim's own way as the service counted it. The sums of all days, and each day that was read, stay on
 * this device, so that they can be viewed offline.
 */
import { computed, effect, signal } from '@preact/signals'
import type { ClientError, Data } from '#shared/client/index.ts'
import { keep, kept, valueOfWalk } from '../session/stored-signals.ts'
import { person } from '../session/current-state.ts'
import { client, config, noteError, refreshProfile } from '../session/service.ts'
import { dayOf, type DayOfWay, keepDay, openDays } from './kept-days.ts'

type OwnWalk = Data<'readOwnWalk'>
export type Route = Data<'readRoute'>
/** Sums of all days; single days are in `kept-days.ts`. */
type OwnSums = Pick<OwnWalk, 'userId' | 'as_of' | 'pending' | 'days'>
type Sums = OwnWalk['days'][number]

export interface ShownDay {
  readonly day: string
  readonly sums: Sums
  /** Null: not read on this device yet. */
  readonly way: DayOfWay | null
}

const sums = valueOfWalk<OwnSums | null>(null, 'walk-way')
export const route = kept<Route | null>('walk-route', null)
export const wayError = signal<ClientError | null>(null)
/** The selected day; null: the last one. */
const chosen = valueOfWalk<string | null>(null)

/** The sums of this pilgrim: the device may have had another walk before. */
export const ownSums = computed(() =>
  sums.value !== null && sums.value.userId === person.value?.userId ? sums.value : null,
)
const shownOf = (total: Sums | undefined): ShownDay | null =>
  total === undefined ? null : { day: total.day, sums: total, way: dayOf(total.day) }
const lastDay = computed(() => shownOf(ownSums.value?.days.at(-1)))
export const shownDay = computed(() => {
  const days = ownSums.value?.days ?? []
  return shownOf(days.find(({ day }) => day === chosen.value)) ?? lastDay.value
})
/** The places of the last two days in order of time: the last hours may have begun before midnight. */
export const lastPlaces = computed((): DayOfWay['line'] =>
  (ownSums.value?.days.slice(-2) ?? []).flatMap(({ day }) => dayOf(day)?.line ?? []),
)
/** The other days that this device has read. */
export const otherDays = computed((): readonly DayOfWay[] =>
  (ownSums.value?.days ?? [])
    .filter(({ day }) => day !== shownDay.value?.day)
    .flatMap(({ day }) => dayOf(day) ?? []),
)

/** Reads a day, by default the last one, and stores it. @returns whether the service responded */
async function readDay(day?: string): Promise<boolean> {
  const answer = await client.readOwnWalk(day === undefined ? {} : { day })
  wayError.value = answer.ok ? null : answer.error
  if (!answer.ok) {
    noteError(answer.error)
    return false
  }
  const { userId, as_of, pending, days, day: read, line, stretches, checkins } = answer.data
  keep(sums, { userId, as_of, pending, days })
  const ofDay = days.find((other) => other.day === read)
  if (ofDay !== undefined)
    await keepDay(userId, ofDay.day, { km: ofDay.km, checkIns: ofDay.checkins, line, stretches, checkins })
  return true
}

/** Shows a day at once if this device has it, and reads it again. */
export async function showDay(day: string): Promise<void> {
  chosen.value = day
  await readDay(day)
}

/** Days that this device lacks or has in an older version. */
const missingDays = (): readonly Sums[] =>
  (ownSums.value?.days ?? []).filter(({ day, km, checkins }) => {
    const way = dayOf(day)
    return way === null || way.km !== km || way.checkIns !== checkins
  })

let reading: Promise<void> | null = null

/** Reads the route if the organisers have changed it. */
export async function readRoute(): Promise<void> {
  const version = config.value?.route ?? null
  if (route.value !== null && route.value.version === version) return
  const read = await client.readRoute(version === null ? {} : { v: version })
  if (read.ok) keep(route, read.data)
}
effect(() => {
  const version = config.value?.route
  if (version !== undefined && route.peek() !== null && route.peek()!.version !== version) void readRoute()
})

/**
 * Reads the last day, then the days that this device lacks, and the route. Concurrent calls share one read.
 */
export function readWay(): Promise<void> {
  return (reading ??= readAll().finally(() => (reading = null)))
}

async function readAll(): Promise<void> {
  await openDays(person.value?.userId ?? '')
  if (!(await readDay(chosen.value ?? undefined))) return
  await readRoute()
  await refreshProfile()
  for (const { day } of missingDays()) if (!(await readDay(day))) return
}
