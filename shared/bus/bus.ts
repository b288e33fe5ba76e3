/**
 * The bus port: the doorbell between services. The event's row in the outbox is the record; a message that
 * is lost costs time, not the event.
 */

export interface Bus {
  /** Rings for an event; rejects when the bus does not take it. Safe to repeat. */
  publish(subject: string, eventId: number): Promise<void>
  /**
   * Calls `onEvent` for each event of the subject, at least once per subscriber whatever its number of
   * replicas. A rejection is reported, and the event comes again: from JetStream, or by the outbox's sweep.
   */
  subscribe(subject: string, subscriber: string, onEvent: (eventId: number) => Promise<void>): Promise<void>
  /** Whether the bus is connected. */
  connected(): boolean
  /** Resolves when what is being handled has been handled. */
  close(): Promise<void>
}
