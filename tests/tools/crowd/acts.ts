/** Actions of people and their phones. Times are seconds since the departure. */
import type { Place } from './way.ts'

/** A position measured by the phone; `clockS` is the time on the phone's own clock. */
export interface Fix extends Place {
  readonly clockS: number
  readonly accuracy: number
  readonly mode?: 'bus' | 'scooter' | 'train'
}

export type Deed =
  | { readonly kind: 'point'; readonly fix: Fix }
  /** `times`: how often the phone sends it. */
  | { readonly kind: 'check-in'; readonly fix: Fix; readonly times: number }
  /** The phone finds or loses its network. While it is online it sends its queue at each `sync`. */
  | { readonly kind: 'network'; readonly online: boolean }
  | { readonly kind: 'sync' }
  | { readonly kind: 'profile'; readonly name: string; readonly language: string }
  | { readonly kind: 'consent'; readonly agreed: boolean }
  | { readonly kind: 'phone-number'; readonly phone: string }
  | { readonly kind: 'reported'; readonly reported: Reported }
  /** A link to their card. */
  | { readonly kind: 'share' }
  /** A key for a tracker app. */
  | { readonly kind: 'tracker'; readonly label: string }
  | { readonly kind: 'survey'; readonly answers: Readonly<Record<string, string | number | string[]>> }
  | {
      readonly kind: 'feedback'
      readonly category: string
      readonly description: string
      /** Where the report is written. */
      readonly fix: Fix
      /** Seed of its screenshot; null without one. */
      readonly screenshot: number | null
    }
  | { readonly kind: 'status'; readonly status: 'withdrawn' | 'completed' }
  /** To the LINE bot: the pilgrim follows it, writes to it, or sends a photo. */
  | { readonly kind: 'line'; readonly event: 'follow' | 'photo' }
  | { readonly kind: 'line'; readonly event: 'text'; readonly text: string }

/** Totals that a pilgrim reports: later ones replace earlier ones. */
export interface Reported {
  readonly consumption: { readonly water: number; readonly recycle: number; readonly hotel: number }
  readonly transport: { readonly train: number }
}

/** One action of one pilgrim. */
export interface Act {
  /** Seconds since the departure. */
  readonly atS: number
  /** Number of the pilgrim, from 0. */
  readonly who: number
  readonly deed: Deed
}
