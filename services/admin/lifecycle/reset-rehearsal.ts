/** Clears a rehearsal from the console. The whole service restarts, which also clears every cache in memory. */
import { conflict, invalid } from '#shared/runtime/refusal.ts'
import { type Acting, audit } from '#shared/service/security/audit-log.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { CommandRefused } from '../backup/archive.ts'
import { readSettings } from '../event/set-event.ts'
import { expectBeforeEvent } from '../reset.ts'

/**
 * Requests the reset, which begins after the response is sent.
 * @param typed a name of the event
 * @returns time of the previous reset, or null
 * @throws Refusal 409 without a rehearsal, once the event has begun, or if other processes use the stores;
 *   400 for another name
 */
export async function resetRehearsal(
  context: ServiceContext,
  operator: Acting,
  typed: string,
): Promise<{ readonly cleared_at: string | null }> {
  const { clearAndRestart, db, now } = context
  const { name, rehearsal } = await readSettings(context)
  if (!rehearsal.value.on) throw conflict('No rehearsal is on. Its data are deleted only while one is.')
  if (!Object.values(name.value.names).includes(typed.trim()))
    throw invalid('name: is not the event’s name. Nothing is deleted')
  try {
    await expectBeforeEvent(context)
  } catch (error) {
    throw error instanceof CommandRefused ? conflict(error.message) : error
  }
  if (clearAndRestart === null)
    throw conflict(
      'Several processes use the stores here: stop all services, and run “bun run reset” (services/README.md, “Rehearse and reset”).',
    )
  await audit(db, operator, 'reset', { state: 'asked' }, now())
  clearAndRestart(operator)
  return { cleared_at: rehearsal.value.cleared_at }
}
