/** Who gets a message, and who is left out of it. */
import { type SQL, sql } from 'drizzle-orm'
import type { Language } from '#shared/contracts/bot.ts'
import type { Audience, LeftOut, Recipients } from '#shared/contracts/messages.ts'
import { isLineUserId } from '#shared/line/line-client.ts'
import type { Writer } from '#shared/bus/outbox.ts'
import { languageOf } from '../locales/choose-language.ts'

const HOUR_MS = 3_600_000

interface Row extends Record<string, unknown> {
  user_id: string
  language: string | null
  withdrawn: boolean
  reachable: boolean
}

export interface Selected {
  readonly byLanguage: ReadonlyMap<Language, readonly string[]>
  readonly count: number
  readonly leftOut: LeftOut
}

/** Whether a pilgrim walks: everyone does who has no part in the event, and whoever has checked in. */
const WALKS = sql`(r.role IS NULL OR coalesce(t.checkins, 0) > 0)`

const withRole = (role: string): SQL => sql`r.role = ${role}`

function conditionOf(audience: Audience, sinceMs: number): SQL {
  switch (audience) {
    case 'all':
      return sql`true`
    case 'participants':
      return WALKS
    case 'volunteers':
      return withRole('volunteer')
    case 'managers':
      return withRole('manager')
    case 'owners':
      return withRole('owner')
    case 'completed':
      return sql`p.participant_status = 'completed'`
    case 'inactive': {
      const since = new Date(sinceMs).toISOString()
      return sql`${WALKS} AND p.participant_status <> 'completed'
        AND coalesce(t.last_seen, p.created_at) < ${since}::timestamptz`
    }
  }
}

/** Chooses the recipients as they are at this moment, each once. */
export async function selectRecipients(tx: Writer, wanted: Recipients, nowMs: number): Promise<Selected> {
  const condition = conditionOf(wanted.audience ?? 'all', nowMs - (wanted.hours ?? 0) * HOUR_MS)
  const people =
    wanted.user_ids === undefined
      ? sql`(SELECT user_id FROM pilgrims UNION SELECT user_id FROM followers)`
      : sql`(SELECT DISTINCT value AS user_id FROM jsonb_array_elements_text(${JSON.stringify(wanted.user_ids)}::text::jsonb))`
  const rows: readonly Row[] = await tx.execute<Row>(sql`
    SELECT u.user_id, p.language, coalesce(p.participant_status = 'withdrawn', false) AS withdrawn,
           coalesce(f.reachable, true) AS reachable
    FROM ${people} u
    LEFT JOIN pilgrims p ON p.user_id = u.user_id
    LEFT JOIN followers f ON f.user_id = u.user_id
    LEFT JOIN role_assignments r ON r.user_id = u.user_id
    LEFT JOIN pilgrim_totals t ON t.user_id = u.user_id
    WHERE ${condition}
    ORDER BY u.user_id`)
  return sorted(rows)
}

function sorted(rows: readonly Row[]): Selected {
  const byLanguage = new Map<Language, string[]>()
  const leftOut = { unreachable: 0, withdrawn: 0, no_line_id: 0 }
  let count = 0
  for (const { user_id: userId, language, withdrawn, reachable } of rows) {
    if (!isLineUserId(userId)) leftOut.no_line_id++
    else if (withdrawn) leftOut.withdrawn++
    else if (!reachable) leftOut.unreachable++
    else {
      count++
      const spoken = languageOf(language)
      const sameLanguage = byLanguage.get(spoken)
      if (sameLanguage === undefined) byLanguage.set(spoken, [userId])
      else sameLanguage.push(userId)
    }
  }
  return { byLanguage, count, leftOut }
}
