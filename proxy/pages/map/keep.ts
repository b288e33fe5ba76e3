/** Keeps the last news in the browser, so that the page opens without a network and says how old they are. */
import type { EventMap, EventRoute } from '#shared/client/index.ts'
import { remember, remembered } from '../frame/storage.ts'
import { news, nowMs, route, setClock } from './state.ts'

const NAME = 'map-3'
/** Older news tell nothing any more. */
const LONGEST_MS = 30 * 86_400_000

interface Kept {
  readonly news: EventMap
  readonly route: EventRoute | null
  /** What the service's clock was ahead of the browser's. */
  readonly aheadMs: number
}

export function keep(): void {
  if (news.value === null) return
  const kept: Kept = { news: news.value, route: route.value, aheadMs: nowMs.value - Date.now() }
  remember(NAME, JSON.stringify(kept))
}

/** Shows what an earlier visit has kept. */
export function restore(): void {
  const text = remembered(NAME)
  if (text === null) return
  try {
    const kept = JSON.parse(text) as Kept
    if (Date.now() + kept.aheadMs - Date.parse(kept.news.as_of) > LONGEST_MS) return
    setClock(Date.now() + kept.aheadMs)
    route.value = kept.route
    news.value = kept.news
  } catch {
    // Another release has kept something else: the next answer replaces it.
    remember(NAME, null)
  }
}
