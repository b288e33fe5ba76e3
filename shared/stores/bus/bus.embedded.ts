/** The bus within one process. */
import { type Bus, CONCURRENCY } from './bus.ts'

type Handle = (eventId: number) => Promise<void>

/** The events of one subscription: those that wait, in order of arrival, and those that are being handled. */
interface Subscription {
  readonly onEvent: Handle
  readonly waiting: Set<number>
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
    for (const id of waiting) {
      if (running.size >= CONCURRENCY) return
      waiting.delete(id)
      const run = onEvent(id)
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
    async publish(subject, eventId) {
      for (const subscription of subscriptions.get(subject) ?? []) {
        // The sweep announces again what has waited for long.
        if (!subscription.running.has(eventId)) subscription.waiting.add(eventId)
        handleNext(subscription)
      }
    },
    async subscribe(subject, _subscriber, onEvent) {
      const added = { onEvent, waiting: new Set<number>(), running: new Map<number, Promise<void>>() }
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
