/** The page of a link, rendered on the server, so that it works for bots and without scripts. */
import { RELEASE } from '#shared/runtime/release.ts'
import { BuiltInLanguage, type Language } from '#shared/contracts/bot.ts'
import type { Followed } from '#shared/contracts/event-settings.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { markup, raw } from '#shared/service/http/escape-markup.ts'
import { carbonIn, figure, publicKmText, unitsOf } from '#shared/locales/units.ts'
import { ownName, serviceWords, type ServiceWords } from '#shared/locales/by-language.ts'
import type { PageWords, ShareWords } from '#shared/locales/words.ts'
import type { Station } from '#shared/core/map/walking-route.ts'
import type { Level } from '#shared/core/rules/levels.ts'
import { placeName } from '#shared/core/rules/languages.ts'
import { townOf } from '#shared/runtime/taiwan.ts'
import { emblem } from '#shared/core/rules/emblems.ts'
import { shownWay } from './progress.ts'
import type { ShareView } from './read-share.ts'

interface SharePage {
  readonly view: ShareView
  readonly texts: ShareTexts
  /** URL of the page without parameters. */
  readonly url: string
  /** URL of the card; it changes with the card's content. */
  readonly imageUrl: string
  readonly homeUrl: string
}

/** The tag of each language for Open Graph. */
const LOCALES: Readonly<Record<BuiltInLanguage, string>> = {
  'zh-Hant': 'zh_TW',
  'zh-Hans': 'zh_CN',
  en: 'en_GB',
  ja: 'ja_JP',
}
const localeOf = (language: Language): string =>
  (LOCALES as Partial<Readonly<Record<Language, string>>>)[language] ?? language.replace('-', '_')

export function sharePage(page: SharePage): string {
  const { view, texts, homeUrl } = page
  const { words, language } = texts
  const { offline, paused, map, where, followed, organisers } = texts.page
  const message = view.messages?.[language] ?? view.messages?.['en'] ?? view.message
  const isLive = view.live !== null && view.status !== 'ended'
  const inner =
    (isLive ? liveNext(view, texts) + (hasFigures(view) ? figures(page) : '') : cardImage(page)) +
    (view.incomplete ? paragraph(words.incomplete) : '')
  const body = markup`<main class="${isLive ? 'live' : 'still'}">
<header>
<p class="event">${texts.event}</p>
<h1>${texts.name}</h1>
${raw(isLive ? liveState(view, texts) : markup`<p class="state quiet">${view.status === 'ended' ? words.ended : words.notLive}</p>`)}
<p data-offline hidden>${offline}</p>
</header>
${raw(view.status === 'paused' ? markup`<div class="notice"><p>${raw(message === null ? '' : markup`<span class="quiet small">${organisers}</span><strong class="message">${message}</strong>`)}${paused}</p></div>` : '')}
${raw(isLive ? liveMap(view, texts) : '')}
${raw(inner === '' ? '' : markup`<div class="${isLive ? 'card stack' : 'stack'}">${raw(inner)}</div>`)}
<footer class="stack quiet small">
<p><a class="button" href="${homeUrl}">${view.status === 'ended' ? map : where(followed[texts.followed])}</a></p>
<p>${words.privacy}</p>
${raw(languages(texts))}
</footer>
</main>`
  const title = words.title(texts.name, texts.event)
  return document({ texts, head: previewTags(page), title, body, renews: true })
}

/**
 * A page for a link that has ended, or while the service is down.
 * @param renews whether the page retries automatically
 */
export function emptyPage(
  texts: ShareTexts,
  given: { readonly title: string; readonly sentence: string; readonly renews: boolean },
): string {
  const { title, sentence, renews } = given
  const body = markup`<main class="gone">
<svg viewBox="0 0 24 24" aria-hidden="true" fill="currentColor"><path d="M11 0h2v4h-2zM8 4h8v2H8zM7 7h10c3 3 3 7 0 10H7c-3-3-3-7 0-10zM8 18h8v2H8zM11 20h2v4h-2z"/></svg>
<h1>${title}</h1>
<p>${sentence}</p>
${raw(languages(texts))}
</main>`
  return document({ texts, head: '', title, body, renews })
}

function document(page: {
  readonly texts: ShareTexts
  readonly head: string
  readonly title: string
  readonly body: string
  readonly renews: boolean
}): string {
  const { texts, head, title, body, renews } = page
  return markup`<!doctype html>
<html lang="${texts.language}" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="robots" content="noindex">
<meta name="version" content="${RELEASE}">
<meta name="referrer" content="no-referrer">
<meta name="theme-color" content="#f6efe0" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#061816" media="(prefers-color-scheme: dark)">
${raw(head)}
${raw(renews ? '<noscript><meta http-equiv="refresh" content="60"></noscript>' : '')}
<link rel="stylesheet" href="/share/page.css">
${raw(renews ? '<script type="module" src="/share/page.js"></script>' : '')}
</head>
<body>
${raw(body)}
</body>
</html>
`
}

const meta = (name: string, content: string | number): string =>
  markup`<meta ${name.startsWith('og:') ? 'property' : 'name'}="${name}" content="${content}">`

const descriptionOf = ({ view, texts }: SharePage): string =>
  texts.words.description(publicKmText(view), view.checkins, texts.level(view.level))

/** Metadata for chats and timelines, whose bots run no script. */
function previewTags(page: SharePage): string {
  const { texts, url, imageUrl } = page
  const { words, language } = texts
  const title = words.title(texts.name, texts.event)
  const description = descriptionOf(page)
  const alt = words.imageAlt(texts.name)
  return [
    meta('description', description),
    meta('og:type', 'website'),
    meta('og:site_name', texts.event),
    meta('og:title', title),
    meta('og:description', description),
    meta('og:url', url),
    meta('og:image', imageUrl),
    meta('og:image:type', 'image/png'),
    meta('og:image:width', CARD_SIZE.width),
    meta('og:image:height', CARD_SIZE.height),
    meta('og:image:alt', alt),
    meta('og:locale', localeOf(language)),
    ...texts.languages
      .filter((other) => other !== language)
      .map((other) => meta('og:locale:alternate', localeOf(other))),
    meta('twitter:card', 'summary_large_image'),
    meta('twitter:title', title),
    meta('twitter:description', description),
    meta('twitter:image', imageUrl),
    meta('twitter:image:alt', alt),
  ].join('\n')
}

/** False right after the start, when all figures are zero. */
const hasFigures = ({ km, checkins }: ShareView): boolean => km > 0 || checkins > 0

function figures({ view, texts }: SharePage): string {
  const { words } = texts
  const km = publicKmText(view)
  // It is computed from the kilometres, so it is missing without them.
  const saved = carbonIn(texts.language, view.savedKg)
  const fact = (name: string, value: string) => markup`<div><dt>${name}</dt><dd>${raw(value)}</dd></div>`
  return markup`<dl class="facts">
${raw(fact(words.km, `${km} <small>${unitsOf(texts.language).km}</small>`))}
${raw(fact(words.checkins, figure(view.checkins)))}
${raw(view.km < 0.1 ? '' : fact(words.saved, `${saved.figure} <small>${saved.unit}</small>`))}
${raw(fact(words.level, markup`<span class="word"><span class="emblem" aria-hidden="true">${raw(emblem(view.level.level, 'currentColor', 'var(--surface)'))}</span>${texts.level(view.level)}</span>`))}
</dl>`
}

/** The description contains the figures of the card. */
const cardImage = (page: SharePage): string => {
  const { texts, imageUrl } = page
  return markup`<img class="picture" src="${new URL(imageUrl).pathname + new URL(imageUrl).search}" width="${CARD_SIZE.width}" height="${CARD_SIZE.height}" alt="${texts.words.imageAlt(texts.name)} ${descriptionOf(page)}">`
}

const languages = ({ language: shown, languages: others }: ShareTexts): string =>
  markup`<details><summary>${ownName(shown)}</summary>
<nav class="row">${raw(
    others
      .filter((language) => language !== shown)
      .map(
        (language) =>
          markup`<a href="?lang=${language}" lang="${language}" hreflang="${language}">${ownName(language)}</a>`,
      )
      .join('\n'),
  )}</nav>
</details>`

/** The policy of the pages (proxy/pages/pages.ts), without parts that this one does not need. */
export const SHARE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const paragraph = (sentence: string): string => markup`<p class="quiet small">${sentence}</p>`

const MINUTE_MS = 60_000
/** After this long a silence, the page explains possible causes. */
const EXPLAINED_MS = 15 * MINUTE_MS

export function liveState({ live }: ShareView, texts: ShareTexts): string {
  const { words } = texts
  const progress = live!.progress
  const until = paragraph(words.liveUntil(texts.clock(live!.untilMs)))
  if (progress === null)
    return markup`<p class="state row"><span class="badge">${words.nothingYet(texts.name)}</span></p><p>${words.placeAppears}</p>${raw(until)}`
  const { isHeard, silentMs, restsSinceMs } = progress
  const [kind, sentence] = !isHeard
    ? (['warning', words.lastHeard(texts.ago(silentMs))] as const)
    : restsSinceMs === null
      ? (['good', words.now] as const)
      : (['good', words.resting(texts.clock(restsSinceMs))] as const)
  const ago = silentMs < MINUTE_MS ? words.justNow : words.ago(texts.ago(silentMs))
  return markup`<p class="state row" role="status"><span class="badge ${kind}">${sentence}</span>${raw(isHeard ? markup`<span>${ago}</span>` : '')}</p>
${raw(silentMs >= EXPLAINED_MS ? paragraph(words.silence) : '')}
${raw(until)}`
}

const button = (zoom: number, label: string, drawing: string): string =>
  markup`<button type="button" class="button icon" data-zoom="${zoom}" aria-label="${label}" title="${label}"><svg class="symbol" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}"/></svg></button>`

/** The map, drawn by the page's script (proxy/pages/share/walk-map.ts), and a link to another map. */
export function liveMap({ live }: ShareView, texts: ShareTexts): string {
  const { progress, line } = live!
  if (progress === null) return ''
  const { words, language, page } = texts
  const { closer, farther, mapSource } = page
  const { isHeard, last, previous, next } = progress
  const at = `${last.lat.toFixed(5)},${last.lng.toFixed(5)}`
  const way = shownWay(line, [previous, next?.station ?? null])
  const town = townOf(last)
  const where = town === null ? '' : markup`<p><strong>${placeName(language, town)}</strong></p>`
  const title = isHeard ? words.where : words.whereLast
  return markup`<section class="card stack">
<div><h2>${title}</h2>${raw(where)}</div>
<figure class="map" data-heard="${isHeard}" data-way="${JSON.stringify(way)}">
<section class="map-frame" tabindex="0" aria-label="${words.mapAlt}">
<div class="world"><canvas class="ground"></canvas><canvas class="crowd"></canvas><canvas class="names"></canvas>
<div class="marker marker-me" data-mark="me" hidden><svg viewBox="0 0 24 24" aria-hidden="true"><circle class="pulse" cx="12" cy="12" r="8"/><circle cx="12" cy="12" r="8"/></svg><span>${texts.name}</span></div></div>
</section>
<div class="map-controls" data-over-map>${raw(button(1, closer, 'M12 5v14M5 12h14') + button(-1, farther, 'M5 12h14') + button(0, title, 'M12 2v4M12 18v4M2 12h4M18 12h4M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10'))}</div>
<small class="map-source" data-over-map hidden>${mapSource}</small>
</figure>
<p><a class="button primary" rel="noopener noreferrer" href="https://www.google.com/maps/search/?api=1&amp;query=${at}">${words.openMap}</a></p>
</section>`
}

export function liveNext({ live }: ShareView, texts: ShareTexts): string {
  const next = live!.progress?.next ?? null
  if (next === null) return ''
  const { words } = texts
  const km = figure(next.km)
  const when =
    next.expectedMs === null
      ? paragraph(words.unknownArrival)
      : markup`<p><b>${words.expected(texts.clock(next.expectedMs))}</b></p>${raw(paragraph(words.estimate))}`
  return markup`<div><p class="quiet small">${words.next}</p>
<p class="next row"><strong>${texts.station(next.station)}</strong><span>${words.distanceTo(km)}</span></p>
${raw(when)}</div>`
}

interface ShareTexts {
  readonly language: Language
  /** All that a reader can choose. */
  readonly languages: readonly Language[]
  readonly page: PageWords
  readonly words: ShareWords
  readonly event: string
  /** The pilgrim's name, or the word for a pilgrim. */
  readonly name: string
  readonly nowMs: number
  readonly followed: Followed
  /** Time of day, with the day if it is not today. */
  clock(ms: number): string
  ago(ms: number): string
  level(level: Level): string
  station(station: Station): string
}

const HOUR_MIN = 60
const DAY_MIN = 24 * HOUR_MIN

const builtIn = serviceWords({})

export function shareTexts(
  language: Language,
  given: {
    readonly event: string
    readonly name: string | null
    readonly timeZone: string
    readonly nowMs: number
    /** The event's own words; by default it is a procession, and the levels have their default names. */
    readonly levels?: readonly string[]
    readonly followed?: Followed
    readonly words?: ServiceWords
    /** Offered by the event. */
    readonly languages?: readonly Language[]
  },
): ShareTexts {
  const { event, name, timeZone, nowMs, followed = 'procession', words: all = builtIn(language) } = given
  const { levels = all.levels, languages: offered = [] } = given
  const words = all.share
  const ofDay = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const hour = new Intl.DateTimeFormat(language, ofDay)
  const day = new Intl.DateTimeFormat(language, { ...ofDay, month: 'short', day: 'numeric' })
  const dayOf = new Intl.DateTimeFormat('en-CA', { timeZone })
  return {
    language,
    languages: [...new Set<Language>([...BuiltInLanguage.options, ...offered])],
    page: all.page,
    words,
    event,
    name: name ?? words.somebody,
    nowMs,
    clock: (ms) => (dayOf.format(ms) === dayOf.format(nowMs) ? hour : day).format(ms),
    ago(ms) {
      const minutes = Math.max(0, Math.floor(ms / MINUTE_MS))
      if (minutes < HOUR_MIN) return words.minutes(minutes)
      if (minutes < DAY_MIN) return words.hours(Math.floor(minutes / HOUR_MIN), minutes % HOUR_MIN)
      return words.days(Math.floor(minutes / DAY_MIN))
    },
    followed,
    level: ({ level }) => levels[level - 1]!,
    station: ({ name: own, names }) => names[language] ?? own,
  }
}
