/** The page of a link, rendered on the server, so that it works for bots and without scripts. */
import { RELEASE } from '#shared/runtime/release.ts'
import { Language } from '#shared/contracts/bot.ts'
import { CARD_SIZE } from '#shared/contracts/cards.ts'
import { escapeMarkup } from '#shared/service/http/escape-markup.ts'
import { carbonIn, figure, UNITS } from '#shared/locales/units.ts'
import { PAGE_WORDS, SHARE_WORDS } from '#shared/locales/by-language.ts'
import { emblem } from '#shared/core/rules/emblems.ts'
import { liveMap, liveNext, liveState } from './live-part.ts'
import type { ShareView } from './read-share.ts'
import type { ShareTexts } from './share-format.ts'

interface SharePage {
  readonly view: ShareView
  readonly texts: ShareTexts
  /** Address of the page without parameters. */
  readonly url: string
  /** Address of the card; it changes with what the card shows. */
  readonly imageUrl: string
  readonly homeUrl: string
}

/** The tag of each language for Open Graph. */
const LOCALES: Readonly<Record<Language, string>> = {
  'zh-Hant': 'zh_TW',
  'zh-Hans': 'zh_CN',
  en: 'en_GB',
  ja: 'ja_JP',
}

export function sharePage(page: SharePage): string {
  const { view, texts, homeUrl } = page
  const { words, language } = texts
  const { offline, paused, procession } = PAGE_WORDS[language]
  const isLive = view.live !== null && view.status !== 'ended'
  const body = `<main class="${isLive ? 'live' : 'still'}">
<header>
<p class="event">${escapeMarkup(texts.event)}</p>
<h1>${escapeMarkup(texts.name)}</h1>
${isLive ? liveState(view, texts) : `<p class="state quiet">${escapeMarkup(view.status === 'ended' ? words.ended : words.notLive)}</p>`}
</header>
${view.status === 'paused' ? notice(paused) : ''}
${isLive ? liveMap(view, texts) : ''}
<div class="${isLive ? 'card stack' : 'stack'}">
${isLive ? liveNext(view, texts) + figures(page) : cardImage(page)}
${view.incomplete ? `<p class="quiet small">${escapeMarkup(words.incomplete)}</p>` : ''}
</div>
<footer class="stack quiet small">
<p data-offline hidden>${escapeMarkup(offline)}</p>
<p><a class="button" href="${escapeMarkup(homeUrl)}">${escapeMarkup(procession)}</a></p>
<p>${escapeMarkup(words.privacy)}</p>
${languages(language)}
</footer>
</main>`
  const title = words.title(texts.name, texts.event)
  return document({ texts, head: previewTags(page), title, body, renews: true })
}

/**
 * A page that says why there is nothing else: the link has ended, or the service is away.
 * @param renews whether the page tries again by itself
 */
export function emptyPage(
  texts: ShareTexts,
  {
    title,
    sentence,
    renews,
  }: { readonly title: string; readonly sentence: string; readonly renews: boolean },
): string {
  const body = `<main class="gone">
<svg viewBox="0 0 24 24" aria-hidden="true" fill="currentColor"><path d="M11 0h2v4h-2zM8 4h8v2H8zM7 7h10c3 3 3 7 0 10H7c-3-3-3-7 0-10zM8 18h8v2H8zM11 20h2v4h-2z"/></svg>
<h1>${escapeMarkup(title)}</h1>
<p>${escapeMarkup(sentence)}</p>
${languages(texts.language)}
</main>`
  return document({ texts, head: '', title, body, renews })
}

function document({
  texts,
  head,
  title,
  body,
  renews,
}: {
  readonly texts: ShareTexts
  readonly head: string
  readonly title: string
  readonly body: string
  readonly renews: boolean
}): string {
  return `<!doctype html>
<html lang="${texts.language}" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeMarkup(title)}</title>
<meta name="robots" content="noindex">
<meta name="version" content="${RELEASE}">
<meta name="referrer" content="no-referrer">
<meta name="theme-color" content="#f6efe0" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#061816" media="(prefers-color-scheme: dark)">
${head}
${renews ? '<noscript><meta http-equiv="refresh" content="60"></noscript>' : ''}
<link rel="stylesheet" href="/share/page.css">
${renews ? '<script type="module" src="/share/page.js"></script>' : ''}
</head>
<body>
${body}
</body>
</html>
`
}

const meta = (kind: 'property' | 'name', name: string, content: string | number): string =>
  `<meta ${kind}="${name}" content="${escapeMarkup(String(content))}">`

const descriptionOf = ({ view, texts }: SharePage): string =>
  texts.words.description(figure(view.km), view.checkins, texts.level(view.level))

/** What chats and timelines show. Their bots run no script. */
function previewTags(page: SharePage): string {
  const { texts, url, imageUrl } = page
  const { words, language } = texts
  const title = words.title(texts.name, texts.event)
  const description = descriptionOf(page)
  const alt = words.imageAlt(texts.name)
  return [
    meta('name', 'description', description),
    meta('property', 'og:type', 'website'),
    meta('property', 'og:site_name', texts.event),
    meta('property', 'og:title', title),
    meta('property', 'og:description', description),
    meta('property', 'og:url', url),
    meta('property', 'og:image', imageUrl),
    meta('property', 'og:image:type', 'image/png'),
    meta('property', 'og:image:width', CARD_SIZE.width),
    meta('property', 'og:image:height', CARD_SIZE.height),
    meta('property', 'og:image:alt', alt),
    meta('property', 'og:locale', LOCALES[language]),
    ...Language.options
      .filter((other) => other !== language)
      .map((other) => meta('property', 'og:locale:alternate', LOCALES[other])),
    meta('name', 'twitter:card', 'summary_large_image'),
    meta('name', 'twitter:title', title),
    meta('name', 'twitter:description', description),
    meta('name', 'twitter:image', imageUrl),
    meta('name', 'twitter:image:alt', alt),
  ].join('\n')
}

const notice = (sentence: string): string => `<p class="notice">${escapeMarkup(sentence)}</p>`

function figures({ view, texts }: SharePage): string {
  const { words } = texts
  const km = figure(view.km)
  // It follows from the kilometres: none is told where they are none.
  const saved = carbonIn(texts.language, view.savedKg)
  const fact = (name: string, value: string) => `<div><dt>${escapeMarkup(name)}</dt><dd>${value}</dd></div>`
  return `<dl class="facts">
${fact(words.km, `${km} <small>${UNITS[texts.language].km}</small>`)}
${fact(words.checkins, figure(view.checkins))}
${km === '0' ? '' : fact(words.saved, `${saved.figure} <small>${saved.unit}</small>`)}
${fact(words.level, `<span class="word"><span class="emblem" aria-hidden="true">${emblem(view.level.level, 'currentColor', 'var(--surface)')}</span>${escapeMarkup(texts.level(view.level))}</span>`)}
</dl>`
}

/** It shows the figures, which its description tells. */
const cardImage = (page: SharePage): string => {
  const { texts, imageUrl } = page
  return `<img class="picture" src="${escapeMarkup(new URL(imageUrl).pathname + new URL(imageUrl).search)}" width="${CARD_SIZE.width}" height="${CARD_SIZE.height}" alt="${escapeMarkup(`${texts.words.imageAlt(texts.name)} ${descriptionOf(page)}`)}">`
}

/** The other languages, behind the one that is shown. */
const languages = (shown: Language): string =>
  `<details><summary>${SHARE_WORDS[shown].language}</summary>
<nav class="row">${Language.options
    .filter((language) => language !== shown)
    .map(
      (language) =>
        `<a href="?lang=${language}" lang="${language}" hreflang="${language}">${SHARE_WORDS[language].language}</a>`,
    )
    .join('\n')}</nav>
</details>`

/** The policy of the pages (proxy/pages/pages.ts), without what this one does not need. */
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
