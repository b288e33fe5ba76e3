/** Share pages in every state, rendered by the service for a pilgrim near Dajia. */
import { join } from 'node:path'
import type { Language } from '#shared/contracts/bot.ts'
import { readRoute } from '#shared/runtime/config/read-route.ts'
import { LEVELS } from '#shared/core/rules/levels.ts'
import { type Fix, progressOf } from '#services/feedback-media/shares/progress.ts'
import type { ShareView } from '#services/feedback-media/shares/read-share.ts'
import { createRouteAnswer } from '#services/tracking/map/show-route.ts'
import { emptyPage, sharePage, shareTexts } from '#services/feedback-media/shares/share-page.ts'

const MINUTE_MS = 60_000
/** Noon in Taiwan. */
const NOW_MS = Date.parse('2026-04-15T04:00:00Z')
/** 4.5 km/h. */
const STEP_M = 75

const faults: string[] = []
const way = readRoute(join(import.meta.dir, '../tools/crowd/route.geojson'), faults)

/** The service's response for the route. */
export const routeAnswer = (): Promise<string> =>
  createRouteAnswer({ current: way })(new Request('https://walk.test/'), undefined).text()

/** A point per minute, up to 31 km along the route, with the errors of a phone without a clear sky. */
const walked = (minutes: number, silentMinutes: number): Fix[] =>
  Array.from({ length: minutes + 1 }, (_, i) => {
    const { lat, lng } = way.route!.at(31_000 - (minutes - i) * STEP_M)
    const t = NOW_MS - (minutes - i + silentMinutes) * MINUTE_MS
    return { t, lat: lat + Math.sin(i * 2.1) * 8e-5, lng: lng + Math.cos(i * 1.7) * 8e-5 }
  })

export const SHARE_STATES = {
  live: {},
  paused: { status: 'paused' },
  silent: { silentMinutes: 40 },
  still: { live: false },
  ended: { status: 'ended' },
} as const satisfies Record<string, { status?: ShareView['status']; silentMinutes?: number; live?: false }>
export type ShareState = keyof typeof SHARE_STATES | 'gone'

const textsIn = (language: Language) =>
  shareTexts(language, {
    event: language === 'en' ? 'Baishatun pilgrimage' : '白沙屯媽祖進香',
    name: '林美玉',
    timeZone: 'Asia/Taipei',
    nowMs: NOW_MS,
  })

/** The HTML of a state. @param url URL of the page; the card comes from the same server */
export function shareInState(state: ShareState, language: Language, url: string): string {
  const texts = textsIn(language)
  if (state === 'gone') {
    const { goneTitle: title, gone: sentence } = texts.words
    return emptyPage(texts, { title, sentence, renews: false })
  }
  const {
    status = 'active',
    silentMinutes = 1,
    live,
  } = SHARE_STATES[state] as {
    status?: ShareView['status']
    silentMinutes?: number
    live?: false
  }
  const line = walked(180, silentMinutes)
  const view: ShareView = {
    name: texts.name,
    level: LEVELS[2]!,
    km: 31.4,
    checkins: 12,
    savedKg: 5.2,
    unlocked: true,
    incomplete: false,
    status,
    message: null,
    messages: null,
    live:
      live === false
        ? null
        : { untilMs: NOW_MS + 6 * 60 * MINUTE_MS, progress: progressOf(line, way, NOW_MS), line },
  }
  return sharePage({ view, texts, url, imageUrl: `${url}.png?v=1`, homeUrl: new URL('/', url).href })
}
