/** Words of the map page, in one language. */
import type { ActivityStatus } from '#shared/contracts/fields.ts'
import type { PageWords } from './page-words.ts'

/** The event's status; `awaited` before it begins, `unknown` before the first answer. */
export type Standing = ActivityStatus | 'awaited' | 'unknown'
export type Part = 'front' | 'middle' | 'tail'

export interface MapWords {
  readonly page: PageWords
  readonly standing: Readonly<Record<Standing, string>>
  /** Shown when the organisers have set no message. */
  readonly sentence: Readonly<Record<Standing, string>>
  readonly begins: (at: string) => string
  readonly organisers: string
  readonly about: string
  readonly checkin: string
  readonly survey: string

  readonly map: string
  /** How the map is moved by keys, for screen readers. */
  readonly mapKeys: string
  readonly closer: string
  readonly farther: string
  readonly showProcession: string
  readonly showRoute: string
  readonly detailed: string
  /** The browser can not draw the detailed map. */
  readonly detailedUnsupported: string
  /** The detailed map could not be loaded. */
  readonly detailedAway: string
  /** Source of the map's data. */
  readonly source: string

  readonly procession: string
  readonly part: Readonly<Record<Part, string>>
  readonly near: (station: string) => string
  readonly between: (from: string, to: string) => string
  /** Kilometres along the route, and its length. */
  readonly along: (km: string, of: string) => string
  readonly length: (km: string) => string
  /** Instead of the length where a few people are far from each other. */
  readonly scattered: (km: string) => string
  readonly speed: (kmh: string) => string
  readonly resting: string
  readonly nobody: string
  readonly onMap: (pilgrims: string) => string
  readonly crowdNote: (fewest: number) => string
  readonly crowdLegend: string

  readonly me: string
  readonly whereAmI: string
  readonly meToProcession: (km: string) => string
  readonly meDenied: string
  readonly meUnknown: string
  readonly mePrivate: string

  readonly stations: string
  readonly myStation: string
  readonly chooseStation: string
  readonly frontAt: (time: string) => string
  readonly middleAt: (time: string) => string
  /** Two sentences about the same station. */
  readonly both: (front: string, middle: string) => string
  /** Kilometres between the front and the station. */
  readonly toGo: (km: string) => string
  readonly passed: string
  readonly passedStations: (count: number) => string
  readonly passing: string
  /** Instead, where a few people are far from each other. */
  readonly somePassed: string
  readonly later: string
  readonly tailPassed: string
  readonly estimate: string
  readonly tellMe: string
  readonly toldHere: string
  readonly toldDenied: string
  readonly soon: (station: string, minutes: number) => string
  readonly arrived: (station: string) => string

  readonly totals: string
  readonly pilgrims: string
  readonly together: string
  readonly saved: string
  readonly levels: string
  /** Why their sum may be another than the number of pilgrims. */
  readonly levelsOf: string
  readonly totalsOf: (time: string) => string

  readonly asOf: (time: string) => string
  readonly loading: string
  readonly offline: string
  /** The news on the page is this old. */
  readonly old: (time: string, ago: string) => string
  readonly tooOld: string
  readonly ago: (minutes: number) => string
  readonly crowdStale: string
}
