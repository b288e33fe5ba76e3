/**
 * How long the ids of webhook events are stored: longer than LINE redelivers an event. Older events are not accepted,
 * because their ids may have been deleted.
 */
export const DEDUPLICATION_WINDOW_MS = 30 * 86_400_000
