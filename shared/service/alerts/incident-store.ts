/** The state of the current incident: in the kv, shared by all watchers, and in this watcher's memory. */
import type { ServiceContext } from '#shared/service/context.ts'
import type { Incident } from './alert-decision.ts'

const STATE_KEY = 'alert-state'
const STATE_MS = 30 * 86_400_000

interface State {
  readonly incident: Incident | null
  readonly atMs: number
}

export function createIncidentStore({ kv, now }: Pick<ServiceContext, 'kv' | 'now'>) {
  let memory: State = { incident: null, atMs: -Infinity }
  return {
    /** The newer of the states in the kv and in memory. */
    async recall(): Promise<Incident | null> {
      // Without the kv nothing is known: an alert too many is better than none.
      const shared = await kv
        .cached(STATE_KEY)
        .then((held) => (held === null ? null : (JSON.parse(held) as State)))
        .catch(() => null)
      // Kept, because the kv may lose it: what this watcher itself stored last may be hours old.
      // A time of the future, by another's clock, would hide what is stored until then.
      if (shared !== null && shared.atMs >= memory.atMs)
        memory = { ...shared, atMs: Math.min(shared.atMs, now()) }
      return memory.incident
    },
    async remember(incident: Incident | null): Promise<void> {
      memory = { incident, atMs: now() }
      await kv.cache(STATE_KEY, JSON.stringify(memory), STATE_MS).catch(() => undefined)
    },
  }
}
