/**
 * The bus port: announces domain events between services. The event itself is a row of the outbox, so a lost
 * announcement delays the event but does not lose it.
 */

/**
 * Maximum number of events that a replica handles concurrently per subscription, so a slow one does not block others.
 */
export const CONCURRENCY = 8

export type OnEvent = (eventId: number, traceparent?: string) => Promise<void>

export interface Bus {
  /**
   * Announces an event; rejects if the bus does not accept it. Safe to repeat.
   * @param traceparent the span that announces it, for its subscribers
   */
  publish(subject: string, eventId: number, traceparent?: string): Promise<void>
  /**
   * Calls `onEvent` for each event of the subject, at least once per subscriber (not per replica). A rejection is
   * reported; the sweep of the outbox delivers the event again.
   */
  subscribe(subject: string, subscriber: string, onEvent: OnEvent): Promise<void>
  /** Whether the bus is connected. */
  connected(): boolean
  /** Resolves when the events in progress have been handled. */
  close(): Promise<void>
}
