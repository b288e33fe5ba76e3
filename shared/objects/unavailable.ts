/** The store cannot be used just now: down, unreachable, refusing, full or damaged. Never said of a missing object. */
export class ObjectsUnavailable extends Error {
  override readonly name = 'ObjectsUnavailable'
}

/**
 * Waits for work at most `ms` milliseconds. Late work is abandoned, not stopped.
 * @throws ObjectsUnavailable when the time is over
 */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new ObjectsUnavailable(`${what}: no answer in ${ms} ms`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
