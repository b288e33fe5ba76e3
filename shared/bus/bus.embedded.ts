/** The bus within one process. */
import type { Bus } from './bus.ts'

export async function openEmbeddedBus({
  onError,
}: {
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  const listeners = new Map<string, ((eventId: number) => Promise<void>)[]>()
  const running = new Set<Promise<void>>()
  let open = true
  return {
    async publish(subject, eventId) {
      for (const listener of listeners.get(subject) ?? []) {
        const run: Promise<void> = listener(eventId)
          // The sweep of the outbox announces unhandled events again.
          .catch(onError)
          .finally(() => running.delete(run))
        running.add(run)
      }
    },
    async subscribe(subject, _subscriber, onEvent) {
      listeners.set(subject, [...(listeners.get(subject) ?? []), onEvent])
    },
    connected: () => open,
    async close() {
      open = false
      listeners.clear()
      await Promise.all(running)
    },
  }
}
