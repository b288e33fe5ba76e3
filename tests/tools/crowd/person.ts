/** The pilgrims: each one's traits depend only on the seed and the pilgrim's number. */
import { createHash } from 'node:crypto'
import { createRandom, type Random } from '#tests/helpers/random.ts'
import { NAMES } from './talk.ts'
import { DAY_S, HOUR_S, passesAtS } from './procession.ts'
import type { Way } from './way.ts'

/** `walker` walks all the way, `rider` takes a bus when behind, `support` rides a scooter along the procession. */
export type Manner = 'walker' | 'rider' | 'support'

/** The error of the phone's clock: `offsetS` seconds ahead until the phone corrects it at `untilS`. */
export interface Clock {
  readonly offsetS: number
  readonly untilS: number
}

export interface Person {
  readonly who: number
  readonly userId: string
  readonly name: string
  readonly language: string
  /** Whether the pilgrim follows the LINE bot. */
  readonly follows: boolean
  readonly manner: Manner
  readonly paceKmh: number
  /** When and where the pilgrim joins, and the kilometre at which they go home. */
  readonly joinS: number
  readonly joinKm: number
  readonly leaveKm: number
  /** Seconds between two positions, and between two syncs. */
  readonly everyS: number
  readonly syncS: number
  /** Hour from which an old phone's battery is empty, until it is charged at night. */
  readonly batteryHour: number
  /** Whether the phone has mobile data only at the place to sleep. */
  readonly isOfflineByDay: boolean
  readonly clock: Clock
  /** Distance to the left of the way's middle, in metres. */
  readonly sideM: number
  /** Mean number of check-ins at a station. */
  readonly zeal: number
  /** Walks at night and sleeps by day. */
  readonly isNightWalker: boolean
  readonly withdraws: boolean
}

/** The random generator of a pilgrim. */
export function randomOf(seed: number, who: number): Random {
  const random = createRandom((Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(who + 1, 0x85ebca6b)) >>> 0)
  random()
  return random
}

/**
 * Ids of a demo's pilgrims begin with `Ude30` (those with LINE) or `demo-`, so that operators of a running
 * service can find them.
 */
export function userIdOf(seed: number, who: number, hasLine: boolean): string {
  if (!hasLine) return `demo-${seed}-${who}`
  return `Ude30${createHash('sha256').update(`${seed} ${who}`).digest('hex').slice(0, 28)}`
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!
const between = (random: Random, low: number, high: number): number => low + random() * (high - low)

/** The pilgrim of a number. */
export function createPerson(seed: number, who: number, way: Way, random: Random): Person {
  const hasLine = random() < 0.75
  const share = random()
  const manner: Manner = share < 0.06 ? 'support' : share < 0.3 ? 'rider' : 'walker'
  return {
    who,
    userId: userIdOf(seed, who, hasLine),
    ...nameOf(random),
    follows: hasLine && random() < 0.8,
    manner,
    paceKmh: manner === 'support' ? between(random, 18, 30) : between(random, 3.4, 5.4),
    ...whereabouts(way, random, manner),
    everyS: pick(random, [30, 30, 45, 60, 60, 60, 60, 90, 120, 300]),
    syncS: Math.round(between(random, 8, 40) * 60),
    batteryHour: random() < 0.08 ? between(random, 14, 19) : 24,
    isOfflineByDay: random() < 0.08,
    clock: clockOf(random),
    sideM: between(random, -7, 7),
    zeal: between(random, 0.5, 1.7),
    isNightWalker: random() < 0.2,
    withdraws: random() < 0.04,
  }
}

function nameOf(random: Random): Pick<Person, 'name' | 'language'> {
  const share = random()
  const language = share < 0.86 ? 'zh-TW' : share < 0.92 ? 'ja' : share < 0.97 ? 'en' : 'zh-CN'
  const { family, given } = NAMES[language] ?? NAMES['zh-TW']
  const parts = [pick(random, family), pick(random, given)]
  return { language, name: language === 'en' ? parts.reverse().join(' ') : parts.join('') }
}

/** A third joins at the start. More than half stay to the end. */
function whereabouts(way: Way, random: Random, manner: Manner) {
  const starts = manner === 'support' || random() < 0.35
  const at = starts ? 0 : Math.floor(random() * (way.stations.length - 1))
  const joinKm = way.stations[at]!.km
  const joinS = Math.round(Math.max(0, passesAtS(joinKm, way) + between(random, -1.5, 2.5) * HOUR_S))
  const stays = starts ? random() < 0.75 : random() < 0.45
  const leaveKm = stays ? way.lengthKm : Math.min(way.lengthKm, joinKm + between(random, 15, 90))
  return { joinS, joinKm, leaveKm }
}

/** Nine in ten clocks are right to a few seconds. The others are slow, fast, a year ahead, or in 2001. */
function clockOf(random: Random): Clock {
  const share = random()
  const untilS = Math.round(between(random, 0.3, 6) * DAY_S)
  if (share < 0.9) return { offsetS: Math.round(between(random, -2, 2)), untilS: Infinity }
  if (share < 0.94) return { offsetS: -Math.round(between(random, 7, 180) * 60), untilS: Infinity }
  if (share < 0.98) return { offsetS: Math.round(between(random, 60, 240)), untilS }
  return { offsetS: (share < 0.99 ? 365 : -9_000) * DAY_S, untilS }
}
