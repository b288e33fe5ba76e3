/** Keeps the screen awake: with a dark screen no web page gets positions. */

/** Asks for it now and whenever the page is shown again, until the signal aborts. @returns what gives it back */
export function keepAwake(signal: AbortSignal): () => void {
  let lock: WakeLockSentinel | null = null
  const ask = () => {
    if (document.visibilityState !== 'visible' || signal.aborted) return
    // Refused at low battery; then the screen goes dark, and the pause log says so.
    navigator.wakeLock?.request('screen').then(
      (given) => {
        if (signal.aborted) void given.release()
        else lock = given
      },
      () => undefined,
    )
  }
  ask()
  document.addEventListener('visibilitychange', ask)
  return () => {
    document.removeEventListener('visibilitychange', ask)
    void lock?.release()
  }
}
