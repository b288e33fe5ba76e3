/** Keeps the screen awake: with a dark screen no web page gets positions. */

/** Asks for it now and whenever the page is shown again, until the signal aborts. @returns what gives it back */
export function keepAwake(signal: AbortSignal): () => void {
  let lock: WakeLockSentinel | null = null
  const ask = async (): Promise<void> => {
    if (document.visibilityState !== 'visible' || signal.aborted) return
    try {
      const given = await navigator.wakeLock?.request('screen')
      if (signal.aborted) await given?.release()
      else lock = given ?? null
    } catch {
      // Refused at low battery: the screen goes dark, and the pause log says so.
    }
  }
  const asked = () => void ask()
  asked()
  document.addEventListener('visibilitychange', asked)
  return () => {
    document.removeEventListener('visibilitychange', asked)
    void lock?.release()
  }
}
