/** The bus within one process. */
import { type Bus, CONCURRENCY, type OnEvent } from './bus.ts'

/**
 * The events of one subscription: those waiting, in order of arrival, with their `traceparent`, and those in progress.
 */
interface Subscription {
  readonly onEvent: OnEvent
  readonly waiting: Map<number, string | undefined>
  readonly running: Map<number, Promise<void>>
}

export async function openEmbeddedBus({
  onError,
}: {
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  const subscriptions = new Map<string, Subscription[]>()
  let open = true

  function handleNext(subscription: Subscription): void {
    const { onEvent, waiting, running } = subscription
    for (const [id, traceparent] of waiting) {
      if (running.size >= CONCURRENCY) return
      waiting.delete(id)
      const run = onEvent(id, traceparent)
        // The sweep of the outbox announces unhandled events again.
        .catch(onError)
        .finally(() => {
          running.delete(id)
          handleNext(subscription)
        })
      running.set(id, run)
    }
  }
  return {
    async publish(subject, eventId, traceparent) {
      for (const subscription of subscriptions.get(subject) ?? []) {
        // The sweep announces an event again if it has waited for long.
        if (!subscription.running.has(eventId)) subscription.waiting.set(eventId, traceparent)
        handleNext(subscription)
      }
    },
    async subscribe(subject, _subscriber, onEvent) {
      const added = {
        onEvent,
        waiting: new Map<number, string | undefined>(),
        running: new Map<number, Promise<void>>(),
      }
      subscriptions.set(subject, [...(subscriptions.get(subject) ?? []), added])
    },
    connected: () => open,
    async close() {
      open = false
      const all = [...subscriptions.values()].flat()
      subscriptions.clear()
      for (const { waiting } of all) waiting.clear()
      await Promise.all(all.flatMap(({ running }) => [...running.values()]))
    },
  }
}
