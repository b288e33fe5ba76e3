/**
 * How long the ids of webhook events are remembered: longer than LINE delivers one again. An event that is older
 * could have been forgotten, and is not taken.
 */
export const DEDUPLICATION_WINDOW_MS = 30 * 86_400_000
