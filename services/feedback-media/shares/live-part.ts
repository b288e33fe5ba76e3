/** The part of a page of a link that shows where the pilgrim is. */
import { townOf } from '#shared/atlas/taiwan.ts'
import type { Route, Station } from '#shared/map/walking-route.ts'
import { placeName } from '#shared/rules/languages.ts'
import { escapeMarkup } from '#shared/http/escape-markup.ts'
import type { ShareView } from './read-share.ts'
import type { ShareTexts } from './share-format.ts'
import { shareMap } from './share-map.ts'

const paragraph = (name: string, sentence: string): string =>
  `<p class="${name}">${escapeMarkup(sentence)}</p>`

const MINUTE_MS = 60_000
/** After this time the page says why nothing may be heard. */
const EXPLAINED_MS = 15 * MINUTE_MS

/** Whether the pilgrim is heard of, rests, or is silent; and how long the place is shown. */
export function liveState({ live }: ShareView, texts: ShareTexts): string {
  const { words } = texts
  const progress = live!.progress
  const until = paragraph('soft', words.liveUntil(texts.clock(live!.untilMs)))
  if (progress === null)
    return `<p class="state"><span class="badge quiet">${escapeMarkup(words.nothingYet)}</span></p>${until}`
  const { isHeard, silentMs, restsSinceMs } = progress
  const [kind, sentence] = !isHeard
    ? (['warning', words.lastHeard(texts.ago(silentMs))] as const)
    : restsSinceMs === null
      ? (['good', words.now] as const)
      : (['good', words.resting(texts.clock(restsSinceMs))] as const)
  const ago = silentMs < MINUTE_MS ? words.justNow : words.ago(texts.ago(silentMs))
  return `<p class="state" role="status"><span class="badge ${kind}">${escapeMarkup(sentence)}</span>${isHeard ? `<span>${escapeMarkup(ago)}</span>` : ''}</p>
${silentMs >= EXPLAINED_MS ? paragraph('soft', words.silence) : ''}
${until}`
}

/** The map and a link to another one. */
export function liveMap(
  { live }: ShareView,
  texts: ShareTexts,
  { route, stations }: { readonly route: Route | null; readonly stations: readonly Station[] },
): string {
  const { progress, line } = live!
  if (progress === null) return ''
  const { words } = texts
  const { lat, lng } = progress.last
  const at = `${lat.toFixed(5)},${lng.toFixed(5)}`
  const map = shareMap({
    line,
    isHeard: progress.isHeard,
    route,
    stations,
    around: [progress.previous, progress.next?.station ?? null],
    nameOf: (station) => texts.station(station),
    label: words.mapAlt,
    language: texts.language,
  })
  const town = townOf(progress.last)
  const where =
    town === null ? '' : `<p class="town-name">${escapeMarkup(placeName(texts.language, town))}</p>`
  return `<section class="panel">
<div><h2>${escapeMarkup(progress.isHeard ? words.where : words.whereLast)}</h2>${where}</div>
<figure class="frame">${map.svg}${map.hasAtlas ? `<figcaption>${escapeMarkup(words.source)}</figcaption>` : ''}</figure>
<p class="actions"><a class="button" rel="noopener noreferrer" href="https://www.google.com/maps/search/?api=1&amp;query=${at}">${escapeMarkup(words.openMap)}</a></p>
</section>`
}

/** The next station, and when the pilgrim is expected there. */
export function liveNext({ live }: ShareView, texts: ShareTexts): string {
  const next = live!.progress?.next ?? null
  if (next === null) return ''
  const { words } = texts
  const km = texts.number(next.km)
  const when =
    next.expectedMs === null
      ? paragraph('soft', words.unknownArrival)
      : `<p><b>${escapeMarkup(words.expected(texts.clock(next.expectedMs)))}</b></p>${paragraph('soft', words.estimate)}`
  return `<div><p class="soft">${escapeMarkup(words.next)}</p>
<p class="next"><strong>${escapeMarkup(texts.station(next.station))}</strong><span>${escapeMarkup(words.distanceTo(km))}</span></p>
${when}</div>`
}
