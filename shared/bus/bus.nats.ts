/** The bus on NATS JetStream: one stream, one durable consumer per subscriber and subject. */
import {
  AckPolicy,
  connect,
  type ConsumerMessages,
  DeliverPolicy,
  type NatsConnection,
  NatsError,
  StorageType,
} from 'nats'
import type { Bus } from './bus.ts'

const STREAM = 'EVENT'
const SUBJECTS = 'event.>'
/** A bell that nobody answered for a week is the sweep's business. */
const MAX_AGE_NS = 7 * 86_400 * 1e9
const ACK_WAIT_NS = 60 * 1e9
const RETRY_MS = 2_000

async function ensureStream(nc: NatsConnection): Promise<void> {
  const jsm = await nc.jetstreamManager()
  try {
    await jsm.streams.add({
      name: STREAM,
      subjects: [SUBJECTS],
      storage: StorageType.File,
      max_age: MAX_AGE_NS,
    })
  } catch (error) {
    // Another service has made it, perhaps in an earlier release with other settings.
    if (!(error instanceof NatsError && error.api_error?.err_code === 10_058)) throw error
  }
}

/**
 * Connects to NATS. Resolves at once; a bus that is down is reconnected to for ever, and subscriptions come
 * up with it.
 */
export async function openNatsBus(options: {
  readonly url: string
  readonly onError: (error: unknown) => void
}): Promise<Bus> {
  const { onError } = options
  let open = true
  let nc: NatsConnection | null = null
  const streams: ConsumerMessages[] = []
  // By default the client gives up for good after about 20 s of outage.
  const connecting = connect({
    servers: options.url.split(','),
    maxReconnectAttempts: -1,
    waitOnFirstConnect: true,
    reconnectTimeWait: 250,
    timeout: 3_000,
  }).then(async (connection) => {
    nc = connection
    if (!open) await connection.close()
    return connection
  })
  connecting.catch(onError)

  const consume = async (
    subject: string,
    subscriber: string,
    onEvent: (eventId: number) => Promise<void>,
  ) => {
    const connection = await connecting
    await ensureStream(connection)
    // Dots would make the name a subject of its own.
    const durable = `${subscriber}:${subject}`.replaceAll('.', '_')
    const jsm = await connection.jetstreamManager()
    await jsm.consumers.add(STREAM, {
      durable_name: durable,
      // One filter each: several need a server 2.10.
      filter_subject: subject,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: ACK_WAIT_NS,
    })
    const consumer = await connection.jetstream().consumers.get(STREAM, durable)
    const messages = await consumer.consume({ max_messages: 16 })
    streams.push(messages)
    for await (const message of messages) {
      try {
        await onEvent(Number(message.string()))
        message.ack()
      } catch (error) {
        onError(error)
        message.nak(RETRY_MS)
      }
    }
  }

  const keepConsuming = async (...consumption: Parameters<typeof consume>): Promise<void> => {
    while (open) {
      try {
        await consume(...consumption)
      } catch (error) {
        if (open) onError(error)
      }
      if (open) await Bun.sleep(RETRY_MS)
    }
  }

  return {
    async publish(subject, eventId) {
      if (nc === null || nc.isClosed()) throw new Error('the bus is not connected')
      await nc.jetstream().publish(subject, String(eventId), { timeout: 3_000 })
    },
    async subscribe(subject, subscriber, onEvent) {
      void keepConsuming(subject, subscriber, onEvent)
    },
    connected: () => nc !== null && !nc.isClosed(),
    async close() {
      open = false
      for (const stream of streams) stream.stop()
      await nc?.close()
    },
  }
}
