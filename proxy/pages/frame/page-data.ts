/** What the build writes into a page's HTML: the event's settings that pages need, and addresses of data files. */
import type { Language } from '#shared/contracts/bot.ts'

export interface PageData {
  readonly name: string
  readonly timeZone: string
  /** The event's own language, for readers of unknown language. */
  readonly language: Language
  readonly languages: readonly Language[]
  /** Addresses of the organisers' pages; null when the event has none. */
  readonly checkinUrl: string | null
  readonly surveyUrl: string | null
  /** Addresses of data files, by name. */
  readonly files: Readonly<Record<string, string>>
}

export const pageData = (): PageData =>
  JSON.parse(document.getElementById('page-data')!.textContent) as PageData
