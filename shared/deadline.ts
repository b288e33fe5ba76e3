/** Waiting for something, but not for ever. */

const DUE = Symbol('due')

/**
 * The outcome of some work, or of `late` when the work has not settled within `ms` milliseconds. Late work is
 * abandoned, not stopped.
 * @param late answers instead, or throws
 */
export async function within<T, L>(work: PromiseLike<T>, ms: number, late: () => L): Promise<T | L> {
  const due = Promise.withResolvers<typeof DUE>()
  const timer = setTimeout(() => due.resolve(DUE), ms)
  try {
    const settled = await Promise.race([work, due.promise])
    return settled === DUE ? late() : settled
  } finally {
    clearTimeout(timer)
  }
}

/** For `within`: a lateness that is an error. */
export const failing = (error: () => Error) => (): never => {
  throw error()
}
