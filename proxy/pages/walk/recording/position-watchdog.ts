/**
 * A watch of positions says nothing while the phone lies still, and a browser may answer no other request while it
 * lasts. So it is ended after a minute, and a new one asks for a position, before a signal counts as missing.
 */

/** With the time of an answer it is shorter than a pause; it is longer than the 30 s between two requests at rest. */
export const SILENT_MS = 60_000

/** Calls once after a time. @returns what cancels it */
export type After = (ms: number, call: () => void) => () => void

interface Silence {
  /** A position came. */
  heard(): void
  stop(): void
}

/** Begins to listen, and calls once when nothing was heard for a minute. */
export function listenForSilence(call: () => void, after: After): Silence {
  let cancel = after(SILENT_MS, call)
  return {
    heard() {
      cancel()
      cancel = after(SILENT_MS, call)
    },
    stop: () => cancel(),
  }
}
