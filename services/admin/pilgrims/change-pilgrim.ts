/** Operators' changes to a pilgrim: any status, the palanquin, the role, trackers and links. */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import { type Operator, ROLE_LEVEL } from '#shared/service/security/admin-auth.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { ParticipantStatusAnswer } from '#shared/contracts/profile.ts'
import type {
  SetParticipantRequest,
  AssignRoleAnswer,
  AssignRoleRequest,
  SetPalanquinAnswer,
  SetPalanquinRequest,
} from '#shared/contracts/reports.ts'
import {
  ensurePilgrim,
  lockPersonUnlessErased,
  lockPerson,
  isBeingErased,
} from '#shared/pilgrims/person-lock.ts'
import { endShares } from '#shared/pilgrims/shares.ts'
import { updateLiveMapPresence } from '#shared/pilgrims/kv-copies.ts'
import { pilgrims, roleAssignments, shares, trackers } from '#shared/stores/schema/tables.ts'
import { unknownPilgrim } from '#shared/pilgrims/profile.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import { type PageQuery, ParticipantStatus, Role, time, UserId } from '#shared/contracts/fields.ts'
import { conflict, expectSeen, forbidden, notFound } from '#shared/runtime/refusal.ts'
import { readPage } from '#shared/service/http/pagination.ts'
import { endTrackers } from '#shared/pilgrims/tracker-keys.ts'
import { lockOutErasure } from './audit-look.ts'

/**
 * Sets the status, also of a pilgrim known only from the buffer. The same status again changes nothing.
 * @throws Refusal 404 for an unknown pilgrim; KvUnavailable when the live map has to change, and then nothing is stored
 */
export async function setUserStatus(
  context: ServiceContext,
  operator: Acting,
  userId: string,
  { status, seen }: SetParticipantRequest,
): Promise<ParticipantStatusAnswer> {
  const { db, kv, now } = context
  const nowMs = now()
  const isPilgrim = eq(pilgrims.userId, userId)
  const onlyPending = await isOnlyPending(context, userId)
  await db.transaction(async (tx) => {
    if (onlyPending) await ensurePilgrim(tx, userId, nowMs)
    const [pilgrim] = await tx.orm.select().from(pilgrims).where(isPilgrim).for('update')
    if (pilgrim === undefined) throw unknownPilgrim(userId)
    const stored = ParticipantStatus.parse(pilgrim.participantStatus)
    expectSeen(seen, stored, status, `Somebody has set the status to ${stored}`)
    if (pilgrim.participantStatus !== status || pilgrim.completionClaimed) {
      await tx.orm
        .update(pilgrims)
        .set({ participantStatus: status, completionClaimed: false, updatedAt: new Date(now()) })
        .where(isPilgrim)
      if (status === 'withdrawn') await endShares(tx, userId)
      await audit(tx, operator, 'set-user-status', { user_id: userId, status }, now())
    }
    await updateLiveMapPresence(kv, userId, pilgrim, { ...pilgrim, participantStatus: status })
  })
  return { userId, participant_status: status }
}

/**
 * Makes a device of a pilgrim the palanquin, replacing an earlier one, or removes it.
 * @throws Refusal 404 for an unknown pilgrim or tracker, 409 in a walk and for the phone of an id in whose name anyone
 *   can report places; KvUnavailable when only the buffer could know the pilgrim
 */
export async function setPalanquin(
  context: ServiceContext,
  operator: Acting,
  userId: string,
  { palanquin, tracker: named = null }: SetPalanquinRequest,
): Promise<SetPalanquinAnswer> {
  const { config, db, event, now } = context
  if (palanquin && event.current.followed === 'walk')
    throw conflict(
      'A walk has no device that leads it. The owner chooses what is followed in the view Event.',
    )
  const tracker = palanquin ? named : null
  if (palanquin && tracker === null && isClaim(config, userId))
    throw conflict(
      'Others may know this id, and with EVENT_IDENTITY=open whoever knows it could move the palanquin on the map. Name one of its trackers, or a phone that uses the event’s app, or set EVENT_IDENTITY=line.',
    )
  const at = new Date(now())
  const isPilgrim = eq(pilgrims.userId, userId)
  const onlyPending = await isOnlyPending(context, userId)
  await db.transaction(async (tx) => {
    // One change at a time: two would each leave a palanquin.
    await lockPerson(tx, PALANQUIN)
    if (onlyPending) await ensurePilgrim(tx, userId, at.getTime())
    const [pilgrim] = await tx.orm.select().from(pilgrims).where(isPilgrim)
    if (pilgrim === undefined) throw unknownPilgrim(userId)
    if (pilgrim.palanquin === palanquin && pilgrim.palanquinTracker === tracker) return
    if (tracker !== null && (await tx.orm.$count(trackers, isTrackerOf(userId, tracker))) === 0)
      throw notFound('This pilgrim has no such tracker; it may have been revoked.')
    await tx.orm
      .update(pilgrims)
      .set({ palanquin: false, palanquinTracker: null })
      .where(eq(pilgrims.palanquin, true))
    const changed = await tx.orm
      .update(pilgrims)
      .set({ palanquin, palanquinTracker: tracker, updatedAt: at })
      .where(isPilgrim)
      .returning({ userId: pilgrims.userId })
    if (changed.length === 0) throw unknownPilgrim(userId)
    const details = { user_id: userId, palanquin, ...(tracker !== null && { tracker }) }
    await audit(tx, operator, 'set-palanquin', details, at.getTime())
  })
  return { userId, palanquin }
}

const isTrackerOf = (userId: string, id: string) => and(eq(trackers.userId, userId), eq(trackers.id, id))

/** A reserved id: its lock serializes the changes. */
const PALANQUIN = 'the palanquin'

/**
 * Assigns, changes or removes a role, which decides the audiences of messages, not access. The same role again changes
 * nothing.
 * @throws Refusal 403 when the new or the former role is above the caller's own, 404 for an unknown id; KvUnavailable
 *   when only the buffer could know it
 */
export async function assignRole(
  context: ServiceContext,
  operator: Acting,
  { user_id: userId, role, seen }: AssignRoleRequest,
): Promise<AssignRoleAnswer> {
  const { db, now } = context
  const at = new Date(now())
  const onlyPending = await isOnlyPending(context, userId)
  await db.transaction(async (tx) => {
    // The check below needs a lock, and there may be no row to lock yet.
    await lockPerson(tx, userId)
    await lockPersonUnlessErased(tx, userId, at.getTime())
    if (!onlyPending && !(await isKnown(tx, userId))) throw unknownPilgrim(userId)
    const isAssignment = eq(roleAssignments.userId, userId)
    const [pilgrim] = await tx.orm.select().from(roleAssignments).where(isAssignment)
    const stored = pilgrim === undefined ? null : Role.parse(pilgrim.role)
    expectSeen(
      seen,
      stored,
      role,
      stored === null ? 'Somebody has taken the role' : `${pilgrim!.assignedBy} has given the role ${stored}`,
    )
    for (const affected of [role, stored])
      if (affected !== null && ROLE_LEVEL[affected] > operator.level)
        throw forbidden(`A ${operator.role} cannot assign or remove the role ${affected}.`)
    if (role === stored) return
    if (role === null) await tx.orm.delete(roleAssignments).where(isAssignment)
    else {
      await ensurePilgrim(tx, userId, at.getTime())
      const fields = { role, assignedBy: operator.name, assignedAt: at }
      await tx.orm
        .insert(roleAssignments)
        .values({ userId, ...fields })
        .onConflictDoUpdate({ target: roleAssignments.userId, set: fields })
    }
    await audit(tx, operator, 'assign-role', { user_id: userId, role, before: pilgrim?.role ?? null }, now())
  })
  return { userId, role }
}

async function isKnown(tx: Tx, userId: string): Promise<boolean> {
  const found = await tx.sql`
    SELECT 1 FROM pilgrims WHERE user_id = ${userId}
    UNION ALL SELECT 1 FROM followers WHERE user_id = ${userId}`
  return found.length > 0
}

export function listRoles({ db, pseudonyms }: ServiceContext, query: PageQuery, operator: Operator | null) {
  const ids = pseudonyms.orderFor(operator)
  const place = sql.raw(ids.sql('role_assignments.user_id'))
  return readPage(
    'roles',
    [UserId],
    query,
    (after, limit) =>
      db.read(() =>
        db.orm
          .select({ assignment: roleAssignments, displayName: pilgrims.displayName })
          .from(roleAssignments)
          .leftJoin(pilgrims, eq(pilgrims.userId, roleAssignments.userId))
          .where(after === null ? undefined : gt(place, ids.of(after[0])))
          .orderBy(asc(place))
          .limit(limit),
      ),
    ({ assignment, displayName }) => ({
      userId: assignment.userId,
      display_name: displayName,
      role: Role.parse(assignment.role),
      assigned_by: assignment.assignedBy,
      assigned_at: time(assignment.assignedAt),
    }),
    ({ assignment }) => [assignment.userId],
  )
}

/**
 * Whether a pilgrim has pending points and no row yet, so that an operator's write has to create it.
 * @throws KvUnavailable
 */
async function isOnlyPending(
  { db, kv }: Pick<ServiceContext, 'db' | 'kv'>,
  userId: string,
): Promise<boolean> {
  const isPilgrim = eq(pilgrims.userId, userId)
  const [stored] = await db.read(() =>
    db.orm.select({ userId: pilgrims.userId }).from(pilgrims).where(isPilgrim),
  )
  return stored === undefined && (await kv.peek(userId)).length > 0 && !(await isBeingErased(db, userId))
}

/**
 * Revokes a tracker. When it resolves, no replica accepts the key.
 * @throws Refusal 404 when the pilgrim has no such tracker; KvUnavailable, and then nothing is revoked
 */
export async function revokeTrackerOfUser(
  { db, kv, now }: ServiceContext,
  operator: Acting,
  userId: string,
  id: string,
): Promise<{ id: string }> {
  await db.transaction(async (tx) => {
    if (!(await lockOutErasure(tx, userId))) throw unknownPilgrim(userId)
    // Before the key is revoked: a revocation in the kv survives a failed entry.
    await audit(tx, operator, 'revoke-tracker', { user_id: userId }, now())
    if ((await endTrackers(tx, kv, userId, id)) === 0)
      throw notFound('This pilgrim has no such tracker; it may have been revoked already.')
  })
  return { id }
}

/** Ends all links to a pilgrim's page. @throws Refusal 404 when there are none */
export async function revokeSharesOfUser(
  { db, now }: ServiceContext,
  operator: Acting,
  userId: string,
): Promise<{ revoked: number }> {
  return db.transaction(async (tx) => {
    if (!(await lockOutErasure(tx, userId))) throw unknownPilgrim(userId)
    const revoked = await tx.orm.$count(shares, eq(shares.userId, userId))
    if (revoked === 0) throw notFound('This pilgrim has no links.')
    await endShares(tx, userId)
    await audit(tx, operator, 'revoke-shares', { user_id: userId }, now())
    return { revoked }
  })
}
