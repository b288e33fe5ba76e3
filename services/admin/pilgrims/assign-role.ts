/** Roles of people. Assignments decide the audiences of messages, not access. */
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Writer } from '#shared/bus/outbox.ts'
import { audit } from '#shared/security/audit-log.ts'
import { type Operator, ROLE_LEVEL } from '#shared/security/admin-auth.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { type PageQuery, Role, time, UserId } from '#shared/contracts/fields.ts'
import type { AssignRoleAnswer, AssignRoleRequest } from '#shared/contracts/reports.ts'
import { forbidden } from '#shared/http/errors.ts'
import { decodeCursor, encodeCursor, pageOf } from '#shared/http/pagination.ts'
import { roleAssignments } from '#shared/schema/operations.ts'
import { ensurePilgrim } from '#shared/pilgrims/ensure-pilgrim.ts'
import { lockPersonUnlessErased, lockPerson } from '#shared/pilgrims/person-lock.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import { unknownPilgrim } from './audit-look.ts'
import { isOnlyPending } from './only-pending.ts'

/**
 * Assigns, changes or removes a role.
 * @throws Refusal 403 when the new or the former role is above the caller's own, 404 for an id that nobody has;
 * KvUnavailable when only the buffer could know it
 */
export async function assignRole(
  context: ServiceContext,
  operator: Operator,
  { user_id: userId, role }: AssignRoleRequest,
  requestId: string,
): Promise<AssignRoleAnswer> {
  const { db, now } = context
  const at = new Date(now())
  const onlyPending = await isOnlyPending(context, userId)
  await db.orm.transaction(async (tx) => {
    // The check below needs a lock, and there may be no row to lock yet.
    await lockPerson(tx, userId)
    await lockPersonUnlessErased(tx, userId, at.getTime())
    if (!onlyPending && !(await isKnown(tx, userId))) throw unknownPilgrim(userId)
    const mine = eq(roleAssignments.userId, userId)
    const [held] = await tx.select().from(roleAssignments).where(mine)
    for (const affected of [role, held === undefined ? null : Role.parse(held.role)])
      if (affected !== null && ROLE_LEVEL[affected] > operator.level)
        throw forbidden(`A ${operator.role} can not assign or remove the role ${affected}.`)
    if (role === null) await tx.delete(roleAssignments).where(mine)
    else {
      await ensurePilgrim(tx, userId, at.getTime())
      const fields = { role, assignedBy: operator.name, assignedAt: at }
      await tx
        .insert(roleAssignments)
        .values({ userId, ...fields })
        .onConflictDoUpdate({ target: roleAssignments.userId, set: fields })
    }
    await audit(
      tx,
      operator,
      'assign-role',
      { user_id: userId, role, before: held?.role ?? null },
      requestId,
      now(),
    )
  })
  return { userId, role }
}

/** Whether somebody with this id is a pilgrim or follows the bot. */
async function isKnown(tx: Writer, userId: string): Promise<boolean> {
  const found = await tx.execute(sql`
    SELECT 1 FROM pilgrims WHERE user_id = ${userId}
    UNION ALL SELECT 1 FROM followers WHERE user_id = ${userId}`)
  return found.length > 0
}

const LIST = 'roles'

/** A page of assignments, by user id. */
export async function listRoles({ db }: ServiceContext, { limit, cursor }: PageQuery) {
  const after = cursor === undefined ? '' : decodeCursor(LIST, cursor, z.tuple([UserId]))[0]
  const rows = await db.read(() =>
    db.orm
      .select({ assignment: roleAssignments, displayName: pilgrims.displayName })
      .from(roleAssignments)
      .leftJoin(pilgrims, eq(pilgrims.userId, roleAssignments.userId))
      .where(and(gt(roleAssignments.userId, after)))
      .orderBy(asc(roleAssignments.userId))
      .limit(limit + 1),
  )
  return pageOf(
    rows,
    limit,
    ({ assignment, displayName }) => ({
      userId: assignment.userId,
      display_name: displayName,
      role: Role.parse(assignment.role),
      assigned_by: assignment.assignedBy,
      assigned_at: time(assignment.assignedAt.getTime()),
    }),
    ({ assignment }) => encodeCursor(LIST, [assignment.userId]),
  )
}
