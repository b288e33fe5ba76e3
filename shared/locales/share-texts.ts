/** The form of the texts of the page of a link. */

export interface ShareWords {
  /** The language's own name. */
  readonly language: string
  /** For a pilgrim whose name is not shown. */
  readonly somebody: string
  readonly title: (name: string, event: string) => string
  /** Under the title in a chat or a timeline. */
  readonly description: (figures: { km: string; checkins: number; level: string }) => string
  readonly imageAlt: (name: string) => string
  readonly km: string
  readonly checkins: string
  readonly level: string
  readonly saved: string
  readonly where: string
  /** Above the map of a pilgrim who is not heard of. */
  readonly whereLast: string
  /** Shown while the pilgrim is heard of. */
  readonly now: string
  readonly resting: (since: string) => string
  readonly lastHeard: (ago: string) => string
  /** Why nothing is heard. */
  readonly silence: string
  readonly nothingYet: string
  readonly liveUntil: (at: string) => string
  readonly notLive: string
  readonly minutes: (count: number) => string
  readonly hours: (count: number, minutes: number) => string
  readonly days: (count: number) => string
  readonly speed: string
  readonly along: string
  readonly next: string
  readonly expected: (at: string) => string
  /** Beside an expected time. */
  readonly estimate: string
  readonly unknownArrival: string
  readonly distanceTo: (km: string) => string
  readonly openMap: string
  readonly mapAlt: string
  /** Source of the map's data. */
  readonly source: string
  readonly start: string
  readonly paused: string
  readonly ended: string
  readonly event: string
  readonly privacy: string
  readonly incomplete: string
  readonly updated: (at: string) => string
  readonly offline: string
  readonly goneTitle: string
  readonly gone: string
  readonly awayTitle: string
  readonly away: string
}
