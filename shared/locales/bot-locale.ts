/** The texts of one language of the bot. */
import type { BotAction, Language } from '#shared/contracts/bot.ts'

export interface Locale {
  readonly language: Language
  /** Labels of buttons: at most 20 characters. */
  readonly labels: Readonly<Record<BotAction, string>>
  /** Text of the chat bar: at most 14 characters. */
  readonly chatBar: string
  readonly open: string
  readonly welcome: (event: string) => string
  readonly unknown: string
  readonly checkin: string
  readonly help: readonly string[]
  readonly survey: string
  readonly surveyDone: string
  readonly share: (event: string) => string
  readonly about: (event: string) => string
  readonly card: string
  /** Instead of the card, after a withdrawal. */
  readonly noLink: string
  readonly level: string
  readonly distance: string
  readonly checkins: string
  readonly times: (count: number) => string
  readonly next: string
  readonly nextNeeds: (km: number, checkins: number) => string
  readonly top: string
  readonly nothingYet: string
  /** Shown with figures that lack the pending points. */
  readonly incomplete: string
  readonly emitted: string
  readonly saved: string
  readonly carbonNote: string
  readonly photo: (count: number) => string
  readonly paused: (message: string | null) => string
  readonly summary: (figures: SummaryFigures) => string
  readonly summaryTitle: (event: string) => string
  readonly personOnly: string
}

/** Totals of the whole event. */
export interface SummaryFigures {
  readonly pilgrims: number
  readonly checkins: number
  readonly km: number
  readonly savedKg: number
}
