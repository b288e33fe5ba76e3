/** The browser's storage for choices. If it is disabled or full, a choice lasts as long as the page. */

const PREFIX = 'event-'

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

/** Stores a value; null deletes it. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, value)
  } catch {
    // Some browsers have no storage in private windows: the page works without.
  }
}
