/** The data that the build embeds into a page's HTML: the event's settings for pages, and URLs of data files. */
import type { Language } from '#shared/contracts/bot.ts'

export interface PageData {
  readonly name: string
  readonly timeZone: string
  /** The event's own language, for readers of unknown language. */
  readonly language: Language
  readonly languages: readonly Language[]
  /** URLs of the organisers' pages; null when the event has none. */
  readonly checkinUrl: string | null
  readonly surveyUrl: string | null
  /** URLs of data files, by name. */
  readonly files: Readonly<Record<string, string>>
}

export const pageData = (): PageData =>
  JSON.parse(document.getElementById('page-data')!.textContent) as PageData
