/** A connection to NATS that is made sooner or later, and kept for ever. */
import { connect, Events, type NatsConnection } from 'nats'

export const RETRY_MS = 2_000

export interface NatsLink {
  /** The connection; null as long as there has never been one. */
  readonly now: () => NatsConnection | null
  /** Whether it is up just now. */
  readonly isUp: () => boolean
  /** Resolves with the first connection, or with null when the link is ending before. */
  readonly first: Promise<NatsConnection | null>
  /** Resolves after so long, or when the link is ending. */
  pause(ms: number): Promise<void>
  readonly isEnding: () => boolean
  /** Says that it is about to be closed: nobody waits for it any more. */
  end(): void
  close(): Promise<void>
}

/** @param url comma-separated servers @param onError told why there is no connection yet */
export function openNatsLink(url: string, onError: (error: unknown) => void): NatsLink {
  const ending = createEnding()
  let isUp = false
  let connection: NatsConnection | null = null

  const follow = async (made: NatsConnection): Promise<void> => {
    isUp = true
    for await (const { type } of made.status()) {
      if (type === Events.Disconnect) isUp = false
      if (type === Events.Reconnect) isUp = true
    }
  }

  /** The client's own way of waiting for its first connection cannot be ended. */
  const make = async (): Promise<NatsConnection | null> => {
    while (!ending.hasBegun()) {
      try {
        connection = await connectOnce(url)
        void follow(connection)
        return connection
      } catch (error) {
        onError(error)
        await ending.pause(RETRY_MS)
      }
    }
    return null
  }

  const making = make()
  return {
    now: () => connection,
    isUp: () => isUp && !ending.hasBegun(),
    first: Promise.race([making, ending.begun]),
    pause: ending.pause,
    isEnding: ending.hasBegun,
    end: ending.begin,
    async close() {
      await making
      await connection?.close()
    },
  }
}

const connectOnce = (url: string): Promise<NatsConnection> =>
  connect({
    servers: url.split(',').map((server) => server.trim()),
    // By default the client gives up for good after about 20 s of outage.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    timeout: 3_000,
  })

function createEnding() {
  const begun = Promise.withResolvers<null>()
  let hasBegun = false
  return {
    begun: begun.promise,
    hasBegun: () => hasBegun,
    begin() {
      hasBegun = true
      begun.resolve(null)
    },
    /** Resolves after so long, or when the end begins. */
    async pause(ms: number): Promise<void> {
      const timer = Promise.withResolvers<void>()
      const handle = setTimeout(timer.resolve, ms)
      await Promise.race([timer.promise, begun.promise])
      clearTimeout(handle)
    },
  }
}
