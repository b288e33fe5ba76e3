/** General rate limits: charges to one window within one turn of the event loop share one call. */
import type { Window } from '#shared/config/config.ts'
import type { Kv, LimitVerdict } from '../kv.ts'
import { asked, type Client } from './connection.ts'

interface Charge {
  readonly id: string
  readonly resolve: (verdict: LimitVerdict) => void
  readonly reject: (error: unknown) => void
}

export function limitVerbs(client: Client): Pick<Kv, 'limit'> {
  /** By window, in the order of arrival. */
  const batches = new Map<string, Charge[]>()

  const send = async (name: string, key: string, { max, windowMs }: Window): Promise<void> => {
    const charges = batches.get(name)!
    batches.delete(name)
    try {
      const ids = charges.map(({ id }) => id)
      const verdicts = await asked<number[]>(client.windowLimit(`limit:${key}`, max, windowMs, ...ids))
      for (const [i, { resolve }] of charges.entries()) {
        const at = 3 * i
        resolve({
          allowed: verdicts[at] === 1,
          remaining: verdicts[at + 1]!,
          retryAfterMs: verdicts[at + 2]!,
        })
      }
    } catch (error) {
      for (const { reject } of charges) reject(error)
    }
  }

  return {
    limit: (key, id, window) =>
      new Promise((resolve, reject) => {
        const name = `${window.max} ${window.windowMs} ${key}`
        const charge = { id, resolve, reject }
        const charges = batches.get(name)
        if (charges !== undefined) {
          charges.push(charge)
          return
        }
        batches.set(name, [charge])
        setImmediate(() => void send(name, key, window))
      }),
  }
}
