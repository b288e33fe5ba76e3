/**
 * How far a client has read, as an event's id says it: the last change of the status (row of the audit log) and
 * the last position (the kv's clock). Both are the stores' own, so that any replica can go on from it.
 */
import { and, asc, desc, eq, gt, inArray, lte } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { ActivityStatus, time } from '#shared/contracts/fields.ts'
import type { StatusSeen } from '#shared/contracts/stream.ts'
import type { Moved } from '#shared/kv/kv.ts'
import { auditLog } from '#shared/schema/operations.ts'

export interface Cursor {
  readonly change: number
  readonly movedMs: number
}

export const writeCursor = ({ change, movedMs }: Cursor): string => `${change}.${movedMs}`

/** Null for what no event of ours bears. */
export function readCursor(id: string | null): Cursor | null {
  const [, change, movedMs] = /^(\d{1,15})\.(\d{1,15})$/.exec(id ?? '') ?? []
  return change === undefined ? null : { change: Number(change), movedMs: Number(movedMs) }
}

/** A change of the status, and the row that tells of it. */
export interface Change {
  readonly id: number
  readonly seen: StatusSeen
}

const ACTIONS = ['set-status', 'set-status-message', 'end-activity']
/** Missed ones beyond these are not told one by one. */
const MAX_CHANGES = 100
const MAX_MOVED = 5_000
/** Partitions are read one beside the other, and their clocks differ: rather told twice than not at all. */
const APART_MS = 1_000
/** A replica may have looked later than the one that is asked now. */
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
    // A new message leaves the status as old as it was.
    const { status, message, changed_at, changed_by } = details as Partial<StatusSeen>
    return {
      id,
      seen: {
        status: ActivityStatus.parse(action === 'end-activity' ? 'ended' : status),
        message: message ?? null,
        changed_at: changed_at ?? time(at.getTime()),
        changed_by: changed_by === undefined ? tokenName : changed_by,
      },
    }
  })
}

export interface Missed {
  readonly changes: readonly Change[]
  readonly moved: readonly Moved[]
}

/**
 * What happened since a client left; null when it is too much, or the client was somewhere else: it then takes what
 * stands now, and begins anew.
 * @param to from there on it is told by the watch
 */
export async function readMissed(context: ServiceContext, from: Cursor, to: Cursor): Promise<Missed | null> {
  const { db, kv } = context
  if (from.movedMs > to.movedMs + AHEAD_MS) return null
  // A log that begins behind the cursor is another one.
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
  // Some of them the watch may tell again: it may have told them of one partition, and of another not yet.
  return { changes, moved: pages.flat() }
}
