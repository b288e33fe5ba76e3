/** The part of a page of a link that shows where the pilgrim is. */
import { townOf } from '#shared/runtime/taiwan.ts'
import { PAGE_WORDS } from '#shared/locales/by-language.ts'
import { figure } from '#shared/locales/units.ts'
import { placeName } from '#shared/core/rules/languages.ts'
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import type { ShareView } from './read-share.ts'
import type { ShareTexts } from './share-format.ts'
import { shownWay } from './shown-way.ts'

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

/** The map, which the page's script draws (proxy/pages/share/live-map.ts), and a link to another one. */
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
