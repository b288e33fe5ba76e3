/** The bus on NATS JetStream: one stream, one durable consumer per subscriber and subject. */
import {
  AckPolicy,
  type ConnectionOptions,
  type ConsumerMessages,
  DeliverPolicy,
  type JetStreamPublishOptions,
  type JsMsg,
  type NatsConnection,
  NatsError,
  StorageType,
  connect,
  headers,
  Events,
} from 'nats'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { type Bus, CONCURRENCY, type OnEvent } from './bus.ts'
import { LoggableError } from '#shared/runtime/log.ts'

const STREAM = 'EVENT'
const SUBJECTS = 'event.>'
/** The sweep of the outbox covers older events. */
const MAX_AGE_NS = 7 * 86_400 * 1e9
/** After this time without a sign of life from the subscriber, NATS redelivers the event to another replica. */
const ACK_WAIT_MS = 60_000
const WORKING_MS = 20_000
/**
 * Interval of the heartbeats that NATS sends to a waiting subscriber. A request that races with the deletion of the
 * stream is never answered; two missing heartbeats reveal it (by default only after 30 s).
 */
const HEARTBEAT_MS = 3_000

interface Subscription {
  readonly subject: string
  readonly subscriber: string
  readonly onEvent: OnEvent
}

/**
 * Connects to NATS. Resolves immediately. If NATS is down, the connection and the subscriptions follow when it is
 * available.
 */
export async function openNatsBus(options: {
  readonly url: string
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  const { url, onError } = options
  const link = openNatsLink(url, onError)
  const streams = new Set<ConsumerMessages>()
  const subscriptions: Promise<void>[] = []
  return {
    async publish(subject, eventId, traceparent) {
      const connection = link.now()
      if (connection === null || !link.isUp()) throw new LoggableError('the bus is not connected')
      const options: Partial<JetStreamPublishOptions> = { timeout: 3_000 }
      if (traceparent !== undefined) {
        options.headers = headers()
        options.headers.set('traceparent', traceparent)
      }
      await connection.jetstream().publish(subject, String(eventId), options)
    },
    async subscribe(subject, subscriber, onEvent) {
      subscriptions.push(keepConsuming(link, { subject, subscriber, onEvent }, streams, onError))
    },
    connected: link.isUp,
    async close() {
      link.end()
      for (const stream of streams) stream.stop()
      // Events in progress are completed.
      await Promise.all(subscriptions)
      await link.close()
    },
  }
}

/** Consumes until the link is closed; retries when the server, its stream or the consumer fails. */
async function keepConsuming(
  link: NatsLink,
  subscription: Subscription,
  streams: Set<ConsumerMessages>,
  onError: (error: unknown) => void,
): Promise<void> {
  const connection = await link.first
  while (connection !== null && !link.isEnding()) {
    try {
      const messages = await openConsumer(connection, link.replicas, subscription)
      streams.add(messages)
      try {
        if (!link.isEnding()) await handleAll(messages, subscription, onError)
      } finally {
        streams.delete(messages)
      }
    } catch (error) {
      if (!link.isEnding()) onError(error)
    }
    await link.pause(RETRY_MS)
  }
}

async function openConsumer(
  connection: NatsConnection,
  replicas: number,
  { subject, subscriber }: Subscription,
): Promise<ConsumerMessages> {
  await ensureStream(connection, replicas)
  // A consumer's name must not contain dots.
  const durable = `${subscriber}:${subject}`.replaceAll('.', '_')
  const jsm = await connection.jetstreamManager()
  await jsm.consumers.add(STREAM, {
    durable_name: durable,
    // One subject per consumer: several filters need NATS server 2.10.
    filter_subject: subject,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: ACK_WAIT_MS * 1e6,
  })
  const consumer = await connection.jetstream().consumers.get(STREAM, durable)
  // Prefetched events would wait for this replica even if another one is idle.
  return consumer.consume({
    max_messages: 1,
    idle_heartbeat: HEARTBEAT_MS,
    abort_on_missing_resource: true,
  })
}

async function ensureStream(connection: NatsConnection, num_replicas: number): Promise<void> {
  const jsm = await connection.jetstreamManager()
  try {
    await jsm.streams.add({
      name: STREAM,
      subjects: [SUBJECTS],
      storage: StorageType.File,
      max_age: MAX_AGE_NS,
      num_replicas,
    })
  } catch (error) {
    // Another service has already created the stream, perhaps an earlier release with other settings.
    if (!(error instanceof NatsError && error.api_error?.err_code === 10_058)) throw error
  }
}

async function handleAll(
  messages: ConsumerMessages,
  { onEvent }: Subscription,
  onError: (error: unknown) => void,
): Promise<void> {
  const running = new Set<Promise<void>>()
  try {
    for await (const message of messages) {
      const run: Promise<void> = handle(message, onEvent)
        .catch(onError)
        .finally(() => running.delete(run))
      running.add(run)
      if (running.size >= CONCURRENCY) await Promise.race(running)
    }
  } finally {
    await Promise.all(running)
  }
}

async function handle(message: JsMsg, onEvent: Subscription['onEvent']): Promise<void> {
  const working = setInterval(() => message.working(), WORKING_MS)
  try {
    await onEvent(Number(message.string()), message.headers?.get('traceparent') || undefined)
  } finally {
    clearInterval(working)
    // Also after a failure: the sweep of the outbox announces the event again. Events that wait for a redelivery would
    // count against `max_ack_pending`, and a thousand of them stop all deliveries.
    message.ack()
  }
}

// A connection to NATS that is retried until it succeeds, and reconnects without a limit.

const RETRY_MS = 2_000

/** @param url comma-separated servers @param onError receives the error of each failed attempt */
function openNatsLink(url: string, onError: (error: unknown) => void) {
  const ending = new AbortController()
  const { signal } = ending
  /** Resolves after `ms` milliseconds, or when the link ends. */
  const pause = (ms: number): Promise<void> => wait(ms, undefined, { signal }).catch(() => undefined)
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
    while (!signal.aborted) {
      try {
        connection = await connectOnce(url)
        void follow(connection)
        return connection
      } catch (error) {
        onError(error)
        await pause(RETRY_MS)
      }
    }
    return null
  }

  const making = make()
  return {
    /** Replicas of the stream: three in a cluster, so that any one server may be down. */
    replicas: url.split(',').length < 3 ? 1 : 3,
    /** The connection; null before the first one is established. */
    now: () => connection,
    isUp: () => isUp && !signal.aborted,
    /** Resolves with the first connection, or with null if the link ends before. */
    first: Promise.race([making, once(signal, 'abort').then(() => null)]),
    pause,
    isEnding: () => signal.aborted,
    /** Cancels all waits, before the link is closed. */
    end: () => ending.abort(),
    async close() {
      await making
      await connection?.close()
    },
  }
}

type NatsLink = ReturnType<typeof openNatsLink>

const connectOnce = (given: string): Promise<NatsConnection> =>
  connect({
    ...natsServers(given),
    // By default the client stops reconnecting after an outage of about 20 s.
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    timeout: 3_000,
  })

/** The client's options for `NATS_URL`: it expects user and password outside the addresses. */
export function natsServers(given: string): Pick<ConnectionOptions, 'servers' | 'user' | 'pass'> {
  const servers = given
    .split(',')
    .map((server) => new URL(server.includes('://') ? server.trim() : `nats://${server.trim()}`))
  const [{ username, password } = { username: '', password: '' }] = servers
  return {
    servers: servers.map(({ host }) => host),
    ...(username !== '' && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  }
}
