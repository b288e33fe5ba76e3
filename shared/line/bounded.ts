/** A bound for calls of the SDK, which waits for ever by itself. */

/** LINE did not answer in time; whether the call took effect is not known. */
export class LineSilent extends Error {
  override name = 'LineSilent'
}

/** Waits for a call, but not for ever. */
export async function bounded<T>(call: Promise<T>, ms: number): Promise<T> {
  const timer = Promise.withResolvers<never>()
  const handle = setTimeout(() => timer.reject(new LineSilent(`LINE did not answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([call, timer.promise])
  } finally {
    clearTimeout(handle)
  }
}
