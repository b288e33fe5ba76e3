/** The part of a page of a link that shows where the pilgrim is. */
import { townOf } from '#shared/runtime/taiwan.ts'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { figure } from '#shared/locales/units.ts'
import { placeName } from '#shared/core/rules/languages.ts'
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import type { ShareView } from './read-share.ts'
import type { ShareTexts } from './share-format.ts'
import type { Place } from '#shared/core/map/walking-route.ts'
import { METRES_PER_DEGREE, simplifyLine } from '#shared/core/rules/geo.ts'

const paragraph = (sentence: string): string => `<p class="quiet small">${escapeMarkup(sentence)}</p>`

const MINUTE_MS = 60_000
/** After this time the page says why nothing may be heard. */
const EXPLAINED_MS = 15 * MINUTE_MS

/** Whether the pilgrim is heard of, rests, or is silent; and how long the place is shown. */
export function liveState({ live }: ShareView, texts: ShareTexts): string {
  const { words } = texts
  const progress = live!.progress
  const until = paragraph(words.liveUntil(texts.clock(live!.untilMs)))
  if (progress === null)
    return `<p class="state row"><span class="badge quiet">${escapeMarkup(words.nothingYet)}</span></p>${until}`
  const { isHeard, silentMs, restsSinceMs } = progress
  const [kind, sentence] = !isHeard
    ? (['warning', words.lastHeard(texts.ago(silentMs))] as const)
    : restsSinceMs === null
      ? (['good', words.now] as const)
      : (['good', words.resting(texts.clock(restsSinceMs))] as const)
  const ago = silentMs < MINUTE_MS ? words.justNow : words.ago(texts.ago(silentMs))
  return `<p class="state row" role="status"><span class="badge ${kind}">${escapeMarkup(sentence)}</span>${isHeard ? `<span>${escapeMarkup(ago)}</span>` : ''}</p>
${silentMs >= EXPLAINED_MS ? paragraph(words.silence) : ''}
${until}`
}

const button = (zoom: number, label: string, drawing: string): string =>
  `<button type="button" class="button icon" data-zoom="${zoom}" aria-label="${escapeMarkup(label)}" title="${escapeMarkup(label)}"><svg class="symbol" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}"/></svg></button>`

/** The map, which the page's script draws (proxy/pages/share/walk-map.ts), and a link to another one. */
export function liveMap({ live }: ShareView, texts: ShareTexts): string {
  const { progress, line } = live!
  if (progress === null) return ''
  const { words, language } = texts
  const { closer, farther, mapSource } = PAGE_WORDS[language]
  const { isHeard, last, previous, next } = progress
  const at = `${last.lat.toFixed(5)},${last.lng.toFixed(5)}`
  const way = shownWay(line, [previous, next?.station ?? null])
  const town = townOf(last)
  const where = town === null ? '' : `<p><strong>${escapeMarkup(placeName(language, town))}</strong></p>`
  const title = isHeard ? words.where : words.whereLast
  return `<section class="card stack">
<div><h2>${escapeMarkup(title)}</h2>${where}</div>
<figure class="map" data-heard="${isHeard}" data-way="${escapeMarkup(JSON.stringify(way))}">
<section class="map-frame" tabindex="0" aria-label="${escapeMarkup(words.mapAlt)}">
<div class="world"><canvas class="ground"></canvas><canvas class="crowd"></canvas><canvas class="names"></canvas>
<div class="marker marker-me" data-mark="me" hidden><svg viewBox="0 0 24 24" aria-hidden="true"><circle class="pulse" cx="12" cy="12" r="8"/><circle cx="12" cy="12" r="8"/></svg><span>${escapeMarkup(texts.name)}</span></div></div>
</section>
<div class="map-controls" data-over-map>${button(1, closer, 'M12 5v14M5 12h14')}${button(-1, farther, 'M5 12h14')}${button(0, title, 'M12 2v4M12 18v4M2 12h4M18 12h4M12 7a5 5 0 1 0 0 10a5 5 0 1 0 0-10')}</div>
<small class="map-source" data-over-map hidden>${escapeMarkup(mapSource)}</small>
</figure>
<p><a class="button primary" rel="noopener noreferrer" href="https://www.google.com/maps/search/?api=1&amp;query=${at}">${escapeMarkup(words.openMap)}</a></p>
</section>`
}

/** The next station, and when the pilgrim is expected there. */
export function liveNext({ live }: ShareView, texts: ShareTexts): string {
  const next = live!.progress?.next ?? null
  if (next === null) return ''
  const { words } = texts
  const km = figure(next.km)
  const when =
    next.expectedMs === null
      ? paragraph(words.unknownArrival)
      : `<p><b>${escapeMarkup(words.expected(texts.clock(next.expectedMs)))}</b></p>${paragraph(words.estimate)}`
  return `<div><p class="quiet small">${escapeMarkup(words.next)}</p>
<p class="next row"><strong>${escapeMarkup(texts.station(next.station))}</strong><span>${escapeMarkup(words.distanceTo(km))}</span></p>
${when}</div>`
}

// What the map of a link is drawn from: a pure function.

/** Straight from the pilgrim: a station that is farther is not on the map at first. */
const NEAR_M = 6_000
/** The line is as exact as in a picture of this width and height, in its pixels, and never more exact than this. */
const PICTURE = { width: 600, height: 450 } as const
const FINEST_M = 2
/** Its places are written in steps of this share of what the line may be off. */
const STEP = 1 / 4

/** Longitude and latitude. */
type Position = readonly [lng: number, lat: number]

interface ShownWay {
  /** It ends where the pilgrim is. No place has a time. */
  readonly line: readonly Position[]
  /** What the map shows at first: the pilgrim, and the stations around who are near; or the whole line. */
  readonly fit: readonly Position[]
}

/**
 * @param line at least one place, in the order of time
 * @param around the stations before and after the pilgrim
 */
export function shownWay(line: readonly Place[], around: readonly (Place | null)[]): ShownWay {
  const last = line.at(-1)!
  const shrink = Math.cos((last.lat * Math.PI) / 180)
  const metres = ({ lat, lng }: Place) => ({
    x: lng * shrink * METRES_PER_DEGREE,
    y: lat * METRES_PER_DEGREE,
    lat,
    lng,
  })
  const way = line.map(metres)
  const here = metres(last)
  const nearM = Math.max(NEAR_M, 1.5 * Math.hypot(...extentOf(way)))
  const near = around
    .flatMap((station) => (station === null ? [] : [metres(station)]))
    .filter(({ x, y }) => Math.hypot(x - here.x, y - here.y) <= nearM)
  const [wide, high] = extentOf([...way, ...near])
  // In stages: steps that changed with each new place would tell more about a place each time.
  const toleranceM = stageOf(Math.max(FINEST_M, wide / PICTURE.width, high / PICTURE.height))
  const step = (toleranceM * STEP) / METRES_PER_DEGREE
  const onStep = (degrees: number): number => rounded(Math.round(degrees / step) * step)
  const shown = simplifyLine(way, toleranceM)
    .slice(0, -1)
    .map(({ lng, lat }): Position => [onStep(lng), onStep(lat)])
  const exact = ({ lng, lat }: Place): Position => [rounded(lng), rounded(lat)]
  const whole = [...shown, exact(last)]
  return { line: whole, fit: near.length === 0 ? whole : [last, ...near].map(exact) }
}

/** The next power of the square root of two. */
const stageOf = (value: number): number => 2 ** (Math.ceil(2 * Math.log2(value)) / 2)

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5

const extentOf = (points: readonly { readonly x: number; readonly y: number }[]): [number, number] => {
  const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
  return [spread(points.map(({ x }) => x)), spread(points.map(({ y }) => y))]
}
