/** `GET /s/<id>` and `GET /s/<id>.png`: the page of a link, and its card. Neither is cached, so a link ends at once. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Language } from '#shared/contracts/bot.ts'
import { isBuiltIn } from '#shared/locales/by-language.ts'
import { gone, Refusal } from '#shared/runtime/refusal.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { shareUrl } from '#shared/pilgrims/shares.ts'
import { acceptedTags } from '#shared/core/rules/languages.ts'
import type { Elapsed } from '#shared/runtime/clock.ts'
import type { Cards } from '../cards/draw-card.ts'
import { serveLook } from '../cards/serve-card.ts'
import { answerPng } from '../png-answer.ts'
import { findShare, type OpenShare, readShare, type ShareView } from './read-share.ts'
import { emptyPage, SHARE_POLICY, sharePage, shareTexts } from './share-page.ts'

/** The content of a page is read again after this time. Whether the link works is always read. */
const KEPT_MS = 5_000
const MAX_KEPT = 500

const NEVER = 'private, no-store'
/** A viewer may cache the current card, but revalidates each time. */
const ASK = 'private, no-cache'

interface ShareRequest {
  readonly request: Request
  readonly file: string
  readonly lang: string | undefined
}

/** Creates the handler of pages and cards. @throws Refusal 410, 429, 503 for a card; 503 for a page */
export function createShowShare(context: ServiceContext, cards: Cards) {
  const read = createReader(context)
  return (asked: ShareRequest): Promise<Response> =>
    asked.file.endsWith('.png')
      ? showCard(context, cards, asked.request, asked.file.slice(0, -'.png'.length))
      : showPage(context, read, asked)
}

async function showCard(
  context: ServiceContext,
  cards: Cards,
  request: Request,
  id: string,
): Promise<Response> {
  const share = await findShare(context, id)
  if (share === null) throw ended()
  const { userId, showName } = share.row
  const drawn = async () =>
    serveLook(context, cards, await cards.look(userId, showName), context.addressOf(request))
  const card = await drawn().catch((error: unknown) => {
    // The message of the refusal contains the user id.
    throw error instanceof Refusal && error.httpStatus === 404 ? ended() : error
  })
  // Drawing takes a moment, in which the link may have ended.
  if ((await findShare(context, id)) === null) throw ended()
  return withoutTraces(answerPng(request, card, card.isCurrent ? ASK : NEVER))
}

const ended = (): Refusal => gone('This link has ended. Ask the pilgrim for a new one.')

/** The languages of a request, and the texts of its page. */
function readerOf({ config, event, now }: ServiceContext, request: Request, lang: string | undefined) {
  const isKnown = lang !== undefined && (isBuiltIn(lang) || event.current.languages.includes(lang))
  const accepted = acceptedTags(request.headers.get('accept-language'))
  return {
    /** @param others languages to use if the reader's request names none */
    languageOf: (...others: (string | null)[]): Language =>
      isKnown ? lang : event.current.languageOf(accepted.length > 0 ? accepted : others),
    textsFor: (language: Language, name: string | null) =>
      shareTexts(language, {
        event: event.current.nameFor(language),
        words: event.current.wordsFor(language),
        languages: event.current.languages,
        levels: event.current.levelNames(language),
        followed: event.current.followed,
        name,
        timeZone: config.timeZone,
        nowMs: now(),
      }),
  }
}

async function showPage(
  context: ServiceContext,
  read: (share: OpenShare) => Promise<ShareView>,
  { request, file, lang }: ShareRequest,
): Promise<Response> {
  const { config, event } = context
  const { languageOf, textsFor } = readerOf(context, request, lang)
  const share = await findShare(context, file)
  if (share === null) {
    const texts = textsFor(languageOf(), null)
    const { goneTitle: title, gone: sentence } = texts.words
    return html(emptyPage(texts, { title, sentence, renews: false }), texts.language, 410)
  }
  const view = await read(share)
  const language = languageOf(share.language)
  const url = shareUrl(config.publicUrl, share.row.id)
  const page = sharePage({
    view,
    texts: textsFor(language, view.name),
    url,
    imageUrl: `${url}.png?v=${versionOf(view, event.current)}`,
    homeUrl: `${config.publicUrl}/`,
  })
  return html(page, language, 200)
}

/** Shows a 429 or 503 of a page as a page that tries again. A card is refused in JSON. */
export const createShareRefusal =
  (context: ServiceContext) =>
  (refused: Response, request: Request): Response => {
    const url = URL.parse(request.url)
    const isPage = url?.pathname.endsWith('.png') === false
    if (!isPage || (refused.status !== 429 && refused.status !== 503)) return refused
    const { languageOf, textsFor } = readerOf(context, request, url.searchParams.get('lang') ?? undefined)
    const texts = textsFor(languageOf(), null)
    const { awayTitle: title, away, tooMany } = texts.words
    const sentence = refused.status === 429 ? tooMany : away
    const page = html(emptyPage(texts, { title, sentence, renews: true }), texts.language, refused.status)
    refused.headers.delete('Content-Type')
    for (const [name, value] of refused.headers) page.headers.set(name, value)
    return page
  }

/**
 * Chats cache a picture by its URL, so the URL changes with the content of the picture. Its words are settings of the
 * event.
 */
const versionOf = ({ name, level, km, checkins, savedKg, unlocked }: ShareView, { version }: Event): string =>
  Bun.hash(JSON.stringify([name, level.level, version, km, checkins, savedKg, unlocked])).toString(36)

const html = (page: string, language: Language, status: number): Response =>
  withoutTraces(
    new Response(page, {
      status,
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Language': language,
        'Content-Security-Policy': SHARE_POLICY,
        'Cache-Control': NEVER,
        Vary: 'Accept-Language',
      },
    }),
  )

/** Search engines must not list the page, and links from it must not reveal its URL. */
function withoutTraces(response: Response): Response {
  response.headers.set('X-Robots-Tag', 'noindex')
  response.headers.set('Referrer-Policy', 'no-referrer')
  return response
}

/** Reads the content of a link, once for all requests within `KEPT_MS`. */
function createReader(context: ServiceContext): (share: OpenShare) => Promise<ShareView> {
  const views = new Map<string, { readonly age: Elapsed; readonly view: Promise<ShareView> }>()
  return (share) => {
    const { id, liveUntil, showName } = share.row
    const isLive = liveUntil !== null && liveUntil.getTime() > context.now()
    const key = `${id} ${isLive} ${showName}`
    const cached = views.get(key)
    if (cached !== undefined && cached.age() < KEPT_MS) return cached.view
    const view = readShare(context, share)
    view.catch(() => views.delete(key))
    // Every time, not only when there are too many: an unused line is dropped, and so disappears after an erasure.
    for (const [other, { age }] of views) if (age() >= KEPT_MS) views.delete(other)
    if (views.size >= MAX_KEPT) views.clear()
    views.set(key, { age: context.stopwatch(), view })
    return view
  }
}
