/**
 * Schedules the alerts of emergencies to owners, managers and `EVENT_ALERT_USER_ID`: at once, and repeatedly until
 * confirmed.
 *
 * The schedule is in the table and runs by the clock of the database. An alert is claimed and planned in one
 * transaction, so it is planned once, whichever replica comes first. A clock change advances at most one alert of each
 * emergency.
 */
import { isNull, type SQL, sql } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Emergency } from '#shared/contracts/emergencies.ts'
import { HAS_POINTS, readEmergencies } from '#shared/pilgrims/emergencies.ts'
import { lockRecipients } from '#shared/pilgrims/person-lock.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { type Repeated, repeated } from '#shared/stores/repeated-work.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { emergencies, type Notice } from '#shared/stores/schema/tables.ts'
import type { Message } from '#shared/service/line/line-client.ts'
import { countDevices } from '../web-push/plan-deliveries.ts'
import { alertCard, manyCard, noticeOf } from './alert-emergency.ts'
import { NOBODY, selectStaff } from './audience.ts'
import { planMessage } from './plan-message.ts'

/** Minutes from each alert to the next, so they go out 0, 3, 10, 40, 70, … and 220 minutes after the press. */
export const GAPS_MIN = [3, 7, 30, 30, 30, 30, 30, 30, 30] as const
/** Older emergencies, for example from a restored backup, cause no alert. */
const OLDEST = sql`interval '1 day'`
/**
 * Alerts for a single emergency per hour, to save the quota; further ones that are due share one message. Pilgrims
 * without any stored point may be invented, so they have a separate, smaller limit.
 */
const CARDS_AN_HOUR = { withPoints: 20, withoutPoints: 5 }
/** Minimum time between two shared messages. */
const SHARED_EVERY = sql`interval '3 minutes'`
const LOOK_EVERY_MS = 10_000

const GAPS = sql.raw(`(ARRAY[${GAPS_MIN.join(', ')}])`)
const { id, alerts, nextAlertAt } = emergencies
const isUnconfirmed = isNull(emergencies.confirmedAt)
/** A due time beyond its gap, plus a minute for rounding, was planned before the clock was set back. */
const isDue = sql`${isUnconfirmed} AND ${nextAlertAt} IS NOT NULL AND (${alerts} = 0 OR ${nextAlertAt} <= now()
  OR ${nextAlertAt} > now() + (${GAPS}[${alerts}] + 1) * interval '1 minute')`

/** Plans the due alerts. Safe to repeat. @returns whether there were any */
export async function alertEmergencies(context: ServiceContext, configured: boolean): Promise<boolean> {
  const { db, config } = context
  const due = await readEmergencies(context, isDue)
  if (due.length === 0) return false
  await db.transaction(async (tx) => {
    // The lock excludes an erasure that would not find the message.
    await lockRecipients(tx)
    await expire(tx)
    const now = await readSoFar(tx)
    const selected = await selectStaff(tx, context)
    const devices = config.push === null ? 0 : await countDevices(tx, selected.everybody)
    const reached = (configured ? selected.count : 0) + devices
    const plan = (causeKey: string, content: Content): Promise<unknown> =>
      planMessage(tx, {
        cause: 'emergency',
        causeKey,
        audience: { user_ids: [...selected.everybody.values()].flat() },
        selected,
        content: (language) => [content.card(language)],
        ...(config.push !== null && { notice: content.notice }),
        forced: true,
        configured,
        nowMs: now.ms,
        dueMs: context.now(),
      })
    let cards = now.cards
    for (const emergency of due) {
      if (cards >= CARDS_AN_HOUR[emergency.has_points ? 'withPoints' : 'withoutPoints']) continue
      const [claimed] = await claim(tx, sql`${isDue} AND ${id} = ${emergency.id}::uuid`, reached)
      if (claimed === undefined) continue
      cards++
      await plan(`emergency:${emergency.id}:${claimed.alerts}`, contentOf(context, emergency, claimed))
    }
    if (now.isShared) return
    const others = await claim(tx, isDue, reached)
    if (others.length > 0) await plan(`emergencies:${crypto.randomUUID()}`, await manyOf(context, tx))
  })
  return true
}

interface Content {
  readonly card: (language: Language) => Message
  readonly notice: (language: Language) => Notice
}

const contentOf = (context: ServiceContext, emergency: Emergency, { alerts, minutes }: Claimed): Content => {
  const unconfirmedMin = alerts === 1 ? null : minutes
  return {
    card: (language) => alertCard(context, language, emergency, unconfirmedMin),
    notice: (language) => noticeOf(context, language, emergency, unconfirmedMin),
  }
}

async function manyOf(context: ServiceContext, tx: Tx): Promise<Content> {
  const [row] = await tx.orm.execute<{ n: number; with_points: number }>(sql`
    SELECT count(*)::int AS n, (count(*) FILTER (WHERE ${HAS_POINTS}))::int AS with_points
    FROM emergencies LEFT JOIN pilgrim_totals ON pilgrim_totals.user_id = emergencies.user_id
    WHERE ${isUnconfirmed}`)
  const { n, with_points: withPoints } = row!
  return {
    card: (language) => manyCard(context, language, n, withPoints),
    notice: (language) => ({
      title: context.event.current.nameFor(language),
      body: context.event.current.wordsFor(language).bot.sos.many(n, withPoints),
    }),
  }
}

interface Claimed extends Record<string, unknown> {
  readonly id: string
  /** Including this one. */
  readonly alerts: number
  /** Since the emergency was raised. */
  readonly minutes: number
}

const claim = async (tx: Tx, which: SQL, reached: number): Promise<readonly Claimed[]> =>
  await tx.orm.execute<Claimed>(sql`
    UPDATE emergencies SET alerts = alerts + 1, reached = ${reached},
      next_alert_at = now() + ${GAPS}[alerts + 1] * interval '1 minute'
    WHERE ${which}
    RETURNING id, alerts, round(extract(epoch FROM now() - raised_at) / 60)::int AS minutes`)

/** The time by the clock of the database, the alerts of the last hour, and whether a shared one was just planned. */
async function readSoFar(tx: Tx): Promise<{ ms: number; cards: number; isShared: boolean }> {
  const [row] = await tx.orm.execute<{ ms: number; cards: number; shared: boolean }>(sql`
    SELECT epoch_ms(now()) AS ms,
      (count(*) FILTER (WHERE cause_key LIKE 'emergency:%' AND state <> 'expired'))::int AS cards,
      coalesce(bool_or(cause_key LIKE 'emergencies:%'
        AND created_at BETWEEN now() - ${SHARED_EVERY} AND now() + ${SHARED_EVERY}), false) AS shared
    FROM messages
    WHERE cause = 'emergency' AND created_at BETWEEN now() - interval '1 hour' AND now() + interval '1 hour'`)
  const { ms, cards, shared } = row!
  return { ms, cards, isShared: shared }
}

/** Removes expired emergencies from the schedule, and records that. */
async function expire(tx: Tx): Promise<void> {
  const old = await tx.orm.execute<{ id: string; alerts: number; ms: number }>(sql`
    UPDATE emergencies SET next_alert_at = NULL
    WHERE ${isUnconfirmed} AND next_alert_at IS NOT NULL AND raised_at < now() - ${OLDEST}
    RETURNING id, alerts, epoch_ms(now()) AS ms`)
  for (const { id, alerts, ms } of old)
    await planMessage(tx, {
      cause: 'emergency',
      causeKey: `emergency:${id}:${alerts + 1}`,
      audience: { user_ids: [] },
      selected: NOBODY,
      content: () => [],
      expired: true,
      configured: true,
      nowMs: ms,
    })
}

/** @param wake called when alerts were planned */
export const createEmergencyAlerts = (
  context: ServiceContext,
  configured: boolean,
  wake: () => void,
): Repeated =>
  repeated(context.log, 'emergencies could not be alerted', LOOK_EVERY_MS, async () => {
    if (await alertEmergencies(context, configured)) wake()
  })
