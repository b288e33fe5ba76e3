/** Gives a person a role of the event, or takes it. */
import type { Data } from '#shared/client/index.ts'
import { client } from '../session.ts'
import { fill, words } from '../words.ts'
import { act } from './act.ts'

type Assigned = Data<'assignRole'>
export type Role = NonNullable<Assigned['role']>

export const ROLES: readonly Role[] = ['volunteer', 'manager', 'owner']

/**
 * @param role null takes the role
 * @param before the role that was shown, which the operator can give back; undefined: not known
 * @returns what the service answered; null when it was refused, which is shown
 */
export const assignRole = (
  userId: string,
  role: Role | null,
  before?: Role | null,
): Promise<Assigned | null> =>
  act(client.assignRole({ user_id: userId, role }), saidOf, {
    group: 'role',
    ...(before === undefined
      ? {}
      : { action: { name: words.value.schedule.undo, run: () => void assignRole(userId, before) } }),
  })

function saidOf({ role }: Assigned): string {
  const said = words.value.people
  return fill(said.saidRole, { role: role === null ? said.noRole : words.value.roles[role] })
}
