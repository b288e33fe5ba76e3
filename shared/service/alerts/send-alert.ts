/** Sends alerts directly to LINE, and writes them to the message ledger when the database is available. */
import { createHash, randomUUID } from 'node:crypto'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Line, Message } from '#shared/service/line/line-client.ts'
import { messageChunks, messages } from '#shared/stores/schema/tables.ts'
import { withCheckTimeout } from './health-checks.ts'

/** Maximum number of pending ledger entries; older ones are only in the log. */
const UNWRITTEN_MAX = 100

interface Entry {
  readonly key: string
  readonly text: string
  readonly retryKey: string
  readonly at: Date
  readonly state: 'sent' | 'skipped' | 'failed'
  readonly requestId: string | null
  readonly detail: string | null
}

export type Messenger = ReturnType<typeof createMessenger>

/** A UUID derived from the key, so that LINE delivers the alert of two watchers once. */
const retryKeyOf = (key: string): string => {
  const hex = createHash('sha256').update(key).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** @param context its `now` is the time of the kv, which all watchers share (`when-to-alert.ts`) */
export function createMessenger(context: ServiceContext, line: Line | null) {
  const { config, event, log, now } = context
  let unwritten: Entry[] = []

  const write = async (entry: Entry): Promise<void> => {
    unwritten = [...unwritten, entry].slice(-UNWRITTEN_MAX)
    await catchUp()
  }

  const catchUp = async (): Promise<void> => {
    while (unwritten.length > 0) {
      try {
        await withCheckTimeout(record(context, unwritten[0]!))
      } catch {
        // The alert may be about this database; the next check retries.
        return
      }
      unwritten = unwritten.slice(1)
    }
  }

  return {
    /**
     * Sends an alert to the owner.
     * @param key an alert with the same key is delivered once
     * @returns false if the result is unknown, so that the caller retries
     */
    async tell(key: string, text: string): Promise<boolean> {
      const entry = { key, text, retryKey: retryKeyOf(key), at: new Date(now()), requestId: null }
      log.error('alert', { alert: text })
      if (line === null || config.alertUserId === '') {
        await write({ ...entry, state: 'skipped', detail: 'no LINE credentials, or no EVENT_ALERT_USER_ID' })
        return true
      }
      const message: Message = { type: 'text', text: `${event.current.name}\n${text}` }
      const delivery = await line.push(config.alertUserId, [message], entry.retryKey)
      if (delivery.outcome === 'later') {
        log.warn('an alert is not delivered yet; it will be retried', { detail: delivery.brief })
        return false
      }
      if (delivery.outcome === 'accepted') {
        await write({ ...entry, state: 'sent', requestId: delivery.requestId, detail: null })
        return true
      }
      log.error('LINE refused an alert: check EVENT_ALERT_USER_ID and the quota', { detail: delivery.brief })
      await write({ ...entry, state: 'failed', detail: delivery.detail })
      return true
    },
    catchUp,
  }
}

async function record({ config, db }: ServiceContext, entry: Entry): Promise<void> {
  const { key, text, at, state, retryKey, requestId, detail } = entry
  const id = randomUUID()
  await db.transaction(async (tx) => {
    const written = await tx.orm
      .insert(messages)
      .values({
        id,
        cause: 'alert',
        causeKey: `alert:${key}`,
        audience: { user_ids: [config.alertUserId] },
        forced: true,
        state: state === 'skipped' ? 'skipped' : 'sent',
        recipients: 1,
        leftOut: { unreachable: 0, withdrawn: 0, no_line_id: 0 },
        createdAt: at,
        completedAt: at,
      })
      .onConflictDoNothing({ target: messages.causeKey })
      .returning({ id: messages.id })
    if (written.length === 0) return
    await tx.orm.insert(messageChunks).values({
      messageId: id,
      state,
      recipients: [config.alertUserId],
      size: 1,
      body: [{ type: 'text', text }],
      retryKey,
      attempts: state === 'skipped' ? 0 : 1,
      triedAt: at,
      dueAt: at,
      settledAt: at,
      lineRequestId: requestId,
      detail,
    })
  })
}
