/** The browser's storage for choices. Where it is switched off or full, a choice lasts as long as the page. */

const PREFIX = 'event-'

export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name)
  } catch {
    return null
  }
}

let closed = false

/** From now on values are only forgotten: an answer that still arrives before a reload writes nothing back. */
export const closeStorage = (): void => void (closed = true)

/** Keeps a value; null forgets it. @returns false where the browser refuses, as it does when it is full */
export function remember(name: string, value: string | null): boolean {
  if (closed && value !== null) return true
  try {
    if (value === null) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, value)
    return true
  } catch {
    // Private windows of some browsers have no storage: the page works without.
    return false
  }
}
