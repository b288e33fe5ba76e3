/** Domain events that subscribers have not handled yet. */
import type postgres from 'postgres'
import { SUBSCRIBERS } from '#shared/contracts/events.ts'

type Subscriber = keyof typeof SUBSCRIBERS

/** Domain events that a subscriber has not handled yet, as `subject by subscriber`. */
export async function unhandledEvents(
  sql: postgres.Sql,
  subscribers = Object.keys(SUBSCRIBERS) as Subscriber[],
): Promise<string[]> {
  const pairs = subscribers.flatMap((subscriber) =>
    SUBSCRIBERS[subscriber].map((subject) => ({ subscriber, subject })),
  )
  const rows = await sql<{ what: string }[]>`
    SELECT o.subject || ' by ' || s.subscriber AS what
    FROM jsonb_to_recordset(${JSON.stringify(pairs)}::text::jsonb) AS s (subscriber text, subject text)
    JOIN outbox o USING (subject)
    WHERE NOT EXISTS (SELECT FROM handled h WHERE h.event_id = o.id AND h.subscriber = s.subscriber)`
  return rows.map(({ what }) => what)
}
