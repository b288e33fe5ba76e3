/** A network between a phone and the service that does to requests what each test says. */
import type { Fetch } from '#shared/client/index.ts'

export const FATES = [
  'delivered',
  /** The request does not arrive. */
  'request-lost',
  /** The service acts on it, and its answer does not arrive. */
  'answer-lost',
  /** It arrives twice; the phone gets the second answer. */
  'twice',
  /** The phone gives up, and the request arrives later, after others. */
  'late',
  /** Neither an answer nor an error, until the phone gives up. */
  'hanging',
] as const
export type Fate = (typeof FATES)[number]

export interface FaultyNetwork {
  readonly fetch: Fetch
  /** Delivers what is late. */
  settle(): Promise<void>
  /** From now on everything is delivered. */
  heal(): void
}

/** @param fates of the requests, in order; further ones are delivered */
export function faultyNetwork(deliver: Fetch, fates: readonly Fate[]): FaultyNetwork {
  let left = [...fates]
  const late: (() => Promise<unknown>)[] = []
  const lost = () => {
    throw new TypeError('The connection was closed')
  }
  return {
    async fetch(url, init) {
      const { signal, ...request } = init
      switch (left.shift() ?? 'delivered') {
        case 'delivered':
          return deliver(url, request)
        case 'request-lost':
          return lost()
        case 'answer-lost':
          await deliver(url, request)
          return lost()
        case 'twice':
          await deliver(url, request)
          return deliver(url, request)
        case 'late':
          late.push(() => deliver(url, request))
          return lost()
        case 'hanging':
          late.push(() => deliver(url, request))
          return new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new DOMException('given up', 'AbortError')))
          })
      }
    },
    async settle() {
      for (const send of late.splice(0)) await send()
    },
    heal() {
      left = []
    },
  }
}
