/** Messages caused by the event: the pause, the final summary, and scheduled notifications. */
import { eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Language } from '#shared/contracts/bot.ts'
import type { Payload } from '#shared/contracts/events.ts'
import type { Audience, Cause } from '#shared/contracts/messages.ts'
import { textFor } from '#shared/core/rules/languages.ts'
import { startOfSlot } from '#shared/service/line/scheduled-notifications.ts'
import type { Event } from '#shared/pilgrims/event-settings.ts'
import { recordSummary, waitForFinalFlush } from '#shared/pilgrims/activity-status.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { savedMg } from '#shared/core/rules/carbon.ts'
import { roundKg, roundKm } from '#shared/core/rules/rounding.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { publicReports } from '#shared/pilgrims/report-totals.ts'
import { ending, messages, type Notice, PILGRIMS_OF_EVENT } from '#shared/stores/schema/tables.ts'
import { lockRecipients } from '#shared/pilgrims/person-lock.ts'
import { NOBODY, selectRecipients, readPendingOfRecipients } from './audience.ts'
import { isExpired } from './expiry.ts'
import { button, card, paragraph, postback } from '../bot/flex.ts'
import type { BotWords } from '#shared/locales/words.ts'
import { planMessage } from './plan-message.ts'
import { LoggableError } from '#shared/runtime/log.ts'

/** The summary counts the points of the final flush, and waits for it at most this long. */
const FLUSH_TIMEOUT_MS = 600_000
const FLUSH_WAIT_MS = 20_000

interface Announcement {
  readonly cause: Cause
  readonly causeKey: string
  readonly audience: Audience
  /** Start of its subject, epoch milliseconds. */
  readonly sinceMs: number
}

/** What recipients see: in LINE, and by Web Push. */
interface Content {
  readonly content: (language: Language) => readonly Message[]
  readonly notice: (language: Language) => Notice
}

/** Plans the message. Repeated calls plan it once. */
async function announce(
  context: ServiceContext,
  configured: boolean,
  announcement: Announcement,
  contentOf: (tx: Tx) => Promise<Content>,
  planned: (tx: Tx) => Promise<void> = async () => undefined,
): Promise<void> {
  const { config, kv, db, now } = context
  const buffer = await readPendingOfRecipients(kv)
  await db.transaction(async (tx) => {
    const { content, notice } = await contentOf(tx)
    await lockRecipients(tx)
    const audience = { audience: announcement.audience }
    const expired = await isExpired(context, tx, announcement.causeKey, announcement.sinceMs)
    await planMessage(tx, {
      ...announcement,
      content,
      ...(config.push === null ? {} : { notice }),
      audience,
      selected: expired ? NOBODY : await selectRecipients(tx, context, audience, buffer),
      expired,
      configured,
      // A clock behind that of the process that paused must not date the message before its pause.
      nowMs: Math.max(now(), announcement.sinceMs),
      dueMs: now(),
    })
    await planned(tx)
  })
}

const announceText = (
  context: ServiceContext,
  configured: boolean,
  announcement: Announcement,
  textOf: (language: Language) => string,
): Promise<void> =>
  announce(context, configured, announcement, async () => ({
    content: (language) => [{ type: 'text', text: textOf(language) }],
    notice: (language) => ({ title: context.event.current.nameFor(language), body: textOf(language) }),
  }))

export const notifyVolunteers = (
  context: ServiceContext,
  configured: boolean,
  { version, message, messages, changed_at }: Payload<'event.admin.status.paused'>,
): Promise<void> =>
  announceText(
    context,
    configured,
    {
      cause: 'pause',
      causeKey: `pause:${version}`,
      audience: 'volunteers',
      sinceMs: Date.parse(changed_at),
    },
    (language) =>
      context.event.current.wordsFor(language).bot.paused(textFor(messages ?? {}, language) ?? message),
  )

export const sendNotification = (
  context: ServiceContext,
  configured: boolean,
  { day, slot }: Payload<'event.scheduler.notification.due'>,
): Promise<void> =>
  announceText(
    context,
    configured,
    {
      cause: 'notification',
      causeKey: `notification:${slot.id}:${day}`,
      audience: slot.audience,
      sinceMs: startOfSlot(context.calendar, day, slot),
    },
    (language) => textFor(slot.text, language) ?? slot.text['zh-Hant'],
  )

/**
 * Sends the final summary to every pilgrim who can be reached, in their language.
 * @throws while the final flush still runs; the domain event is delivered again
 */
export async function sendSummary(context: ServiceContext, configured: boolean): Promise<void> {
  const { event, db, now, stopping } = context
  const flushed = await waitForFinalFlush(db, FLUSH_WAIT_MS, stopping)
  const [row] = await db.read(() => db.orm.select().from(ending))
  const since = now() - (row?.endedAt.getTime() ?? now())
  if (!flushed && since < FLUSH_TIMEOUT_MS)
    throw new LoggableError('the final flush is still running; the final summary is sent after it')
  await announce(
    context,
    configured,
    { cause: 'summary', causeKey: 'summary', audience: 'all', sinceMs: now() },
    async (tx) => {
      const figures = await readFigures(tx)
      return {
        content: (language) => [summaryCard(event.current, language, figures)],
        notice: (language) => ({
          title: event.current.botWords(language).summaryTitle(event.current.nameFor(language)),
          body: event.current.botWords(language).summary(...figures),
        }),
      }
    },
    recordProgress,
  )
}

function summaryCard(event: Event, language: Language, figures: Figures): Message {
  const words = event.botWords(language)
  return card({
    title: words.summaryTitle(event.nameFor(language)),
    contents: [paragraph(words.summary(...figures))],
    buttons: [button(postback('level', words)), button(postback('card', words), false)],
  })
}

/** A summary without recipients is sent as soon as it is stored; without LINE it is skipped. */
async function recordProgress(tx: Tx): Promise<void> {
  const [message] = await tx.orm
    .select({ state: messages.state })
    .from(messages)
    .where(eq(messages.causeKey, 'summary'))
  const state = message?.state
  await recordSummary(tx, state === 'sending' || state === 'skipped' ? state : 'sent')
}

/** Figures of the whole event, erased pilgrims included; reported ways count as in every public sum. */
async function readFigures(tx: Tx): Promise<Figures> {
  const [sums] = await tx.sql<({ pilgrims: number; checkins: number } & Record<Amount, number>)[]>`
    SELECT ${tx.sql.unsafe(PILGRIMS_OF_EVENT)}::int AS pilgrims,
           (SELECT coalesce(sum(checkins), 0) FROM event_hours)::int AS checkins,
           (SELECT coalesce(sum(distance_mm), 0) FROM event_modes)::float8 AS mm,
           (SELECT coalesce(sum(carbon_mg), 0) FROM event_modes)::float8 AS mg,
           r.mm AS reported_mm, r.mg AS reported_mg
    FROM ${tx.sql.unsafe(publicReports(false))} r`
  const { pilgrims, checkins, mm, mg, reported_mm, reported_mg } = sums!
  return [pilgrims, checkins, roundKm(mm), roundKg(savedMg(mm + reported_mm, mg + reported_mg))]
}

type Figures = Parameters<BotWords['summary']>
type Amount = 'mm' | 'mg' | 'reported_mm' | 'reported_mg'
