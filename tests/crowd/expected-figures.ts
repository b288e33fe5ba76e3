/**
 * What the service's reports must show of a crowd, computed from the simulation alone: by the documented rules
 * (shared/README.md, "Decisions"; shared/contracts/README.md), without the service's code.
 */
import type { Act, Fix, Reported } from './acts.ts'
import type { Person } from './person.ts'
import type { Place, Way } from './way.ts'

interface Point {
  readonly t: number
  readonly kind: 'check-in' | 'track'
  readonly lat: number
  readonly lng: number
  readonly mode: string | null
}

interface Segment {
  readonly t: number
  readonly mm: number
  readonly mode: string
}

/** kg CO2e per km, and per unit that people report. */
export const KG_PER_KM: Readonly<Record<string, number>> = {
  walk: 0,
  scooter: 0.13734,
  bus: 0.47515,
  train: 0.07575,
}
const KG_PER_UNIT = { water: 0.10974, recycle: -0.00265, hotel: 8.85 }
const LEVEL_KM = [0, 15, 45, 90, 135, 180, 225, 270, 300]

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Everything that is known of one pilgrim. */
export class Known {
  readonly points = new Map<string, Point>()
  readonly rejected = new Map<string, number>()
  /** Identical requests after the first, and points at an instant that is already taken. */
  duplicates = 0
  photos = 0
  surveys: Readonly<Record<string, unknown>>[] = []
  feedback: { readonly category: string; readonly hasScreenshot: boolean }[] = []
  reported: Reported | null = null
  status = 'active'
  phone: string | null = null
  agreed = false
  name: string | null = null
  follows = false
  links = 0
  /** Where the simulation has them: time and place of the last point that counts. */
  last: Point | null = null

  constructor(
    readonly person: Person,
    readonly departureMs: number,
    readonly nowMs: number,
  ) {}

  take({ deed }: Act): void {
    if (deed.kind === 'point') this.#add('track', deed.fix, 1)
    else if (deed.kind === 'check-in') this.#add('check-in', deed.fix, deed.times)
    else if (deed.kind === 'survey') this.surveys.push(deed.answers)
    else if (deed.kind === 'feedback')
      this.feedback.push({ category: deed.category, hasScreenshot: deed.screenshot !== null })
    else if (deed.kind === 'reported') this.reported = deed.reported
    else if (deed.kind === 'status') this.status = deed.status
    else if (deed.kind === 'phone-number') this.phone = deed.phone
    else if (deed.kind === 'consent') this.agreed = deed.agreed
    else if (deed.kind === 'share' || deed.kind === 'tracker') this.links++
    else if (deed.kind === 'profile') this.name = deed.name
    else if (deed.kind === 'line' && deed.event === 'photo') this.photos++
    else if (deed.kind === 'line' && deed.event === 'follow') this.follows = true
  }

  #add(kind: Point['kind'], { lat, lng, clockS, mode }: Fix, times: number): void {
    const t = this.departureMs + clockS * 1_000
    const refusal = this.#refusal(kind, t)
    if (refusal !== null) {
      if (kind === 'track') this.rejected.set(refusal, (this.rejected.get(refusal) ?? 0) + 1)
      return
    }
    this.duplicates += times - 1
    const key = `${kind} ${t}`
    if (this.points.has(key)) return
    const point = { t, kind, lat, lng, mode: mode ?? null }
    this.points.set(key, point)
    if (this.last === null || t >= this.last.t) this.last = point
  }

  #refusal(kind: Point['kind'], t: number): string | null {
    if (t > this.nowMs + (kind === 'track' ? 5 * MINUTE_MS : DAY_MS)) return 'in-the-future'
    return t < this.nowMs - 30 * DAY_MS ? 'too-old' : null
  }

  get checkIns(): number {
    return [...this.points.values()].filter(({ kind }) => kind === 'check-in').length
  }

  /** The counted segments, from anchor to anchor. */
  segments(): Segment[] {
    const points = [...this.points.values()].sort(
      (a, b) => a.t - b.t || (a.kind === b.kind ? 0 : a.kind === 'check-in' ? -1 : 1),
    )
    const counted: Segment[] = []
    let anchor: Point | null = null
    for (const point of points) {
      if (anchor === null) {
        anchor = point
        continue
      }
      const seconds = (point.t - anchor.t) / 1_000
      if (seconds < 30) continue
      const mm = Math.round(metres(anchor, point) * 1_000)
      const kmh = (mm / 1e6 / seconds) * 3_600
      // Nobody in this crowd jumps; a faster one would need the rule of the taken-back jump.
      if (kmh > 300) throw new Error('the crowd has a jump')
      if (mm < 10_000) {
        anchor = { ...anchor, t: point.t }
        continue
      }
      counted.push({ t: point.t, mm, mode: point.mode ?? (kmh <= 15 ? 'walk' : 'bus') })
      anchor = point
    }
    return counted
  }

  get mm(): number {
    return this.segments().reduce((sum, { mm }) => sum + mm, 0)
  }

  get level(): number {
    const { mm, checkIns } = this
    return Math.max(
      1,
      LEVEL_KM.findLastIndex((km, i) => mm >= km * 1e6 && checkIns >= Math.max(1, 5 * i)) + 1,
    )
  }

  /** kg CO2e of the way, and of what they report. */
  get kg(): number {
    const way = this.segments().reduce((sum, { mm, mode }) => sum + (mm / 1e6) * KG_PER_KM[mode]!, 0)
    if (this.reported === null) return way
    const { consumption, transport } = this.reported
    const goods = Object.entries(KG_PER_UNIT).map(([what, kg]) => kg * consumption[what as 'water'])
    return way + transport.train * KG_PER_KM.train! + goods.reduce((sum, kg) => sum + kg, 0)
  }
}

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** Great-circle distance on a sphere of 6,371,008.8 m, by the haversine formula in its form with atan2. */
export function metres(a: Place, b: Place): number {
  const half =
    Math.sin(radians(b.lat - a.lat) / 2) ** 2 +
    Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * Math.sin(radians(b.lng - a.lng) / 2) ** 2
  return 2 * 6_371_008.8 * Math.atan2(Math.sqrt(half), Math.sqrt(1 - half))
}

/** The day in Taiwan. */
export const dayOf = (ms: number): string => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 10)

/** The kilometre of the way that is nearest to a place, tried every 50 m. */
export function nearestKm(way: Way, place: Place): number {
  let [nearest, least] = [0, Infinity]
  for (let km = 0; km <= way.lengthKm; km += 0.05) {
    const off = metres(way.at(km), place)
    if (off < least) [nearest, least] = [km, off]
  }
  return nearest
}
