/** The browser's storage for choices. Where it is switched off or full, a choice lasts as long as the page. */

const PREFIX = 'event-'

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

/** Keeps a value; null forgets it. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, value)
  } catch {
    // Private windows of some browsers have no storage: the page works without.
  }
}
