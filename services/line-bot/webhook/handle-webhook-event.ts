/** Handles a webhook event: applies its changes and answers the sender. Safe to repeat. */
import { and, eq, isNull } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { BotAction, Language, LineEvent } from '#shared/contracts/bot.ts'
import type { Line, Message } from '#shared/service/line/line-client.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { outbox, lineEvents } from '#shared/stores/schema/tables.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import {
  applyWebhookEvent,
  cachePhotoCount,
  countImageSet,
  isForBot,
  mentionsOf,
  senderOf,
} from './apply-webhook-event.ts'
import { actionOfPostback, wishOfText } from '../bot/keywords.ts'
import {
  emergency,
  type Figures,
  locationReply,
  menu,
  otherWalk,
  personOnly,
  photoReply,
  type Places,
  replyTo,
  welcome,
} from '../bot/replies.ts'
import { type Pilgrim, readFigures, readPilgrim, linkOfPilgrim } from '../bot/load-pilgrim-context.ts'

/** LINE, "Send reply message": a reply token is valid for about a minute. Older events get no answer. */
const TOKEN_MS = 60_000
/** Actions whose answers contain the pilgrim's figures. The others need neither statistics nor the kv. */
const FIGURES: readonly BotAction[] = ['level', 'carbon', 'card']
/** Every one-to-one message is answered, whatever it contains. */
const ANSWERED: readonly string[] = ['message', 'follow', 'postback']
const LINKED: readonly BotAction[] = ['card', 'share']

/**
 * Handles an event, and then deletes its text from the outbox.
 * @throws when LINE's answer is missing, or the kv is unavailable for a photo; the event is delivered again
 */
export async function handleWebhookEvent(
  context: ServiceContext,
  line: Line | null,
  { id, payload: event }: { readonly id: number; readonly payload: LineEvent },
): Promise<void> {
  if (await applyWebhookEvent(context, event)) {
    const [cached] = await Promise.allSettled([cachePhotoCount(context, event)])
    await answerEvent(context, line, event)
    if (cached.status === 'rejected') throw cached.reason
  }
  const { type, webhookEventId, timestamp } = event
  await context.db.orm
    .update(outbox)
    .set({ payload: { type, webhookEventId, timestamp } satisfies LineEvent })
    .where(eq(outbox.id, id))
}

async function answerEvent(context: ServiceContext, line: Line | null, event: LineEvent): Promise<void> {
  if (line === null || !wantsAnswer(event) || context.now() - event.timestamp > TOKEN_MS) return
  if (await isAnswered(context, event)) return
  const messages = await compose(context, line, event)
  if (messages === null) return
  const delivery = await line.reply(event.replyToken!, messages)
  if (delivery.outcome === 'later')
    throw new LoggableError(`an answer could not be delivered: ${delivery.brief}`)
  // LINE refuses a used or expired token. Nothing more can be done then.
  if (delivery.outcome === 'refused') context.log.warn('LINE refused an answer', { detail: delivery.brief })
  await context.db.orm
    .update(lineEvents)
    .set({ answeredAt: new Date(context.now()) })
    .where(eq(lineEvents.webhookEventId, event.webhookEventId))
}

/** Whether the bot answers: in standby mode another module of the account does. */
function wantsAnswer(event: LineEvent): boolean {
  if (event.replyToken === undefined || event.mode === 'standby') return false
  return isForBot(event)
}

/** The text without its mentions. */
function textOf(event: LineEvent): string {
  let text = event.message?.text ?? ''
  for (const { index, length } of [...mentionsOf(event)].sort((a, b) => b.index - a.index))
    text = text.slice(0, index) + text.slice(index + length)
  return text
}

async function isAnswered({ db }: ServiceContext, { webhookEventId }: LineEvent): Promise<boolean> {
  const unanswered = await db.read(() =>
    db.orm
      .select({ id: lineEvents.webhookEventId })
      .from(lineEvents)
      .where(and(eq(lineEvents.webhookEventId, webhookEventId), isNull(lineEvents.answeredAt))),
  )
  return unanswered.length === 0
}

/** @returns null for events without an answer, such as joins and unknown types */
async function compose(context: ServiceContext, line: Line, event: LineEvent): Promise<Message[] | null> {
  const { config, event: settings } = context
  const askedMs = context.now()
  if (!ANSWERED.includes(event.type)) return null
  const sent = event.type === 'message' ? event.message?.type : undefined
  const userId = senderOf(event)
  const pilgrim = userId === null ? null : await readPilgrim(context, line, userId, event.type === 'follow')
  const language = settings.current.languageOf([pilgrim?.language ?? null])
  const words = settings.current.botWords(language)
  if (event.type === 'follow') return welcome(words, settings.current.nameFor(language))
  if (sent === 'image')
    return pilgrim === null ? null : photoReply(words, await photoCountAfter(context, event, pilgrim))
  if (sent === 'location') return locationReply(words, placesFor(context, language, NOBODY))
  const action =
    event.type === 'postback' ? actionOfPostback(event.postback?.data ?? '') : wishOfText(textOf(event))
  if (action === null) return menu(words)
  if (action === 'emergency') return emergency(words, settings.current)
  const needsFigures = FIGURES.includes(action)
  if (pilgrim === null && needsFigures) return personOnly(words)
  const figures = pilgrim === null || !needsFigures ? null : await readFigures(context, pilgrim)
  const link =
    pilgrim === null || !LINKED.includes(action)
      ? null
      : await linkOfPilgrim(context, pilgrim.userId, askedMs)
  const places = placesFor(context, language, { pilgrim, figures, link })
  if (figures !== null && config.identity === 'open' && isUnknownWalk(figures))
    return otherWalk(words, places)
  return replyTo(action, words, places, figures)
}

/** With open identity the app uses its own id, so the LINE user's walk is unknown. */
const isUnknownWalk = ({ km, checkins, incomplete }: Figures): boolean =>
  km === 0 && checkins === 0 && !incomplete

/** The pilgrim's photos, plus those of the same set that have not arrived. @returns null for a set of unknown size */
async function photoCountAfter(
  { db }: ServiceContext,
  { message }: LineEvent,
  { photoCount }: Pilgrim,
): Promise<number | null> {
  const set = message?.imageSet
  if (set === undefined) return photoCount
  if (set.total === undefined) return null
  return photoCount + Math.max(0, set.total - (await db.read(() => countImageSet(db, set.id))))
}

/** LINE caches a picture by its URL, so every change of the card changes the URL. Its words are settings of the event. */
function versionOf(
  { displayName, language, phone, surveyCompletedAt }: Pilgrim,
  figures: Figures | null,
  { version }: Event,
): string {
  // Only the presence of the phone number is included, because other people see the URL.
  const shown = [version, figures, displayName, language, phone !== null, surveyCompletedAt !== null]
  return Bun.hash(JSON.stringify(shown)).toString(36)
}

interface Asker {
  readonly pilgrim: Pilgrim | null
  readonly figures: Figures | null
  readonly link: string | null
}

const NOBODY: Asker = { pilgrim: null, figures: null, link: null }

function placesFor(
  { config, event }: ServiceContext,
  language: Language,
  { pilgrim, figures, link }: Asker,
): Places {
  return {
    event: event.current.nameFor(language),
    home: config.publicUrl,
    app: `${config.publicUrl}/walk/`,
    checkin: config.checkinUrl,
    survey: config.surveyUrl,
    link,
    card:
      pilgrim === null || link === null
        ? null
        : `${link}.png?v=${versionOf(pilgrim, figures, event.current)}`,
    surveyCompleted: pilgrim !== null && pilgrim.surveyCompletedAt !== null,
  }
}
