/**
 * A client's position in the stream, which is the id of each stream event: the last change of the status (row of the
 * audit log) and the last position (the kv's clock). Both come from the stores, so any replica can continue from it.
 */
import { and, asc, desc, eq, gt, inArray, lte } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { ActivityStatus, time } from '#shared/contracts/fields.ts'
import type { StreamStatus } from '#shared/contracts/stream.ts'
import { auditLog } from '#shared/stores/schema/tables.ts'

export interface Cursor {
  readonly change: number
  readonly movedMs: number
}

export const writeCursor = ({ change, movedMs }: Cursor): string => `${change}.${movedMs}`

/** Returns null for an id that this service cannot have sent. */
export function readCursor(id: string | null): Cursor | null {
  const [, change, movedMs] = /^(\d{1,15})\.(\d{1,15})$/.exec(id ?? '') ?? []
  return change === undefined ? null : { change: Number(change), movedMs: Number(movedMs) }
}

interface Change {
  readonly id: number
  readonly seen: StreamStatus
}

const ACTIONS = ['set-status', 'set-status-message', 'end-activity']
/** Maximum number of missed changes that are sent one by one. */
const MAX_CHANGES = 100
const MAX_MOVED = 5_000
/** Partitions are read in parallel and their clocks differ, so this span is sent twice rather than missed. */
const APART_MS = 1_000
/** Another replica may have been ahead of this one by up to this span. */
const AHEAD_MS = 5_000

/** The last change of the status; 0 before the first. */
export async function lastChange({ db }: ServiceContext): Promise<number> {
  const [row] = await db.read(() =>
    db.orm
      .select({ id: auditLog.id })
      .from(auditLog)
      .where(inArray(auditLog.action, ACTIONS))
      .orderBy(desc(auditLog.id))
      .limit(1),
  )
  return row?.id ?? 0
}

/** Changes of the status after one of them, oldest first. They are written under one lock, so in this order. */
export async function changesAfter(
  { db }: ServiceContext,
  after: number,
  through = Number.MAX_SAFE_INTEGER,
): Promise<Change[]> {
  const rows = await db.read(() =>
    db.orm
      .select()
      .from(auditLog)
      .where(and(inArray(auditLog.action, ACTIONS), gt(auditLog.id, after), lte(auditLog.id, through)))
      .orderBy(asc(auditLog.id))
      .limit(MAX_CHANGES),
  )
  return rows.map(({ id, action, at, tokenName, details }) => {
    // A new message does not change the time of the status.
    const { status, message, messages, changed_at, changed_by } = details as Partial<StreamStatus>
    return {
      id,
      seen: {
        status: ActivityStatus.parse(action === 'end-activity' ? 'ended' : status),
        message: message ?? null,
        messages: messages ?? null,
        changed_at: changed_at ?? time(at),
        changed_by: changed_by === undefined ? tokenName : changed_by,
      },
    }
  })
}

/**
 * Reads what happened since a client disconnected. Returns null when it is too much, or when the cursor belongs to
 * another installation; then the client starts from the current snapshot.
 * @param to the watch sends everything after this
 */
export async function readMissed(context: ServiceContext, from: Cursor, to: Cursor) {
  const { db, kv } = context
  if (from.movedMs > to.movedMs + AHEAD_MS) return null
  // An audit log without this row belongs to another installation.
  if (from.change > 0) {
    const [known] = await db.read(() => db.orm.select().from(auditLog).where(eq(auditLog.id, from.change)))
    if (known === undefined) return null
  }
  const changes = await changesAfter(context, from.change, to.change)
  const pages = await Promise.all(
    Array.from({ length: kv.partitions }, (_, partition) =>
      kv.moved(partition, from.movedMs - (kv.partitions === 1 ? 0 : APART_MS), MAX_MOVED),
    ),
  )
  if (changes.length === MAX_CHANGES || pages.some((page) => page.length === MAX_MOVED)) return null
  // The watch may send some of them again, because it reads the partitions in parallel.
  return { changes, moved: pages.flat() }
}
