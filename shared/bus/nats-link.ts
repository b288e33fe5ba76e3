/** A connection to NATS that is retried until it succeeds, and reconnects without a limit. */
import { connect, Events, type NatsConnection } from 'nats'

export const RETRY_MS = 2_000

export interface NatsLink {
  /** The connection; null before the first one is established. */
  readonly now: () => NatsConnection | null
  /** Whether it is up now. */
  readonly isUp: () => boolean
  /** Resolves with the first connection, or with null if the link ends before. */
  readonly first: Promise<NatsConnection | null>
  /** Resolves after `ms` milliseconds, or when the link ends. */
  pause(ms: number): Promise<void>
  readonly isEnding: () => boolean
  /** Cancels all waits, before the link is closed. */
  end(): void
  close(): Promise<void>
}

/** @param url comma-separated servers @param onError receives the error of each failed attempt */
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

  /** Retries here, because the client's own wait for its first connection cannot be cancelled. */
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
    // By default the client stops reconnecting after an outage of about 20 s.
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
    /** Resolves after `ms` milliseconds, or when the end begins. */
    async pause(ms: number): Promise<void> {
      const timer = Promise.withResolvers<void>()
      const handle = setTimeout(timer.resolve, ms)
      await Promise.race([timer.promise, begun.promise])
      clearTimeout(handle)
    },
  }
}
