/** The methods of the kv that read the buffer: for profiles, the health report and the metrics. */
import { type Entry, type Kv, type PartitionCounters, partitionOf } from '../kv.ts'
import { allOf, asked, type Client } from './connection.ts'

/** A pilgrim's hash as entries, in no order. */
export const entriesOf = (hash: Record<string, string>): Entry[] =>
  Object.entries(hash).map(([field, value]) => ({ field, value }))

export function readingVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'peek' | 'peekEach' | 'bufferSize' | 'oldestPending' | 'counters'> {
  return {
    async peek(userId) {
      const tag = tags[partitionOf(userId, tags.length)]!
      return entriesOf(await asked(client.hgetall(`${tag}:buf:${userId}`)))
    },
    async peekEach(userIds) {
      const byPartition = Map.groupBy(userIds.keys(), (i) => partitionOf(userIds[i]!, tags.length))
      const entries: Entry[][] = []
      await Promise.all(
        Array.from(byPartition, async ([partition, places]) => {
          const pipeline = client.pipeline()
          for (const i of places) pipeline.hgetall(`${tags[partition]}:buf:${userIds[i]}`)
          const hashes = await allOf<Record<string, string>>(pipeline)
          for (const [n, i] of places.entries()) entries[i] = entriesOf(hashes[n]!)
        }),
      )
      return entries
    },
    async bufferSize() {
      const sizes = await Promise.all(tags.map((tag) => asked<number>(client.zcard(`${tag}:pending`))))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
    async oldestPending() {
      const heads = await Promise.all(
        tags.map((tag) => asked<string[]>(client.zrange(`${tag}:pending`, 0, '0', 'WITHSCORES'))),
      )
      const times = heads.flatMap(([, score]) => (score === undefined ? [] : [Number(score)]))
      return times.length === 0 ? null : Math.min(...times)
    },
    async counters() {
      const held = await Promise.all(
        tags.map((tag) => asked<Record<string, string>>(client.hgetall(`${tag}:ledger`))),
      )
      return held.map(countersOf)
    },
  }
}

const CALLER = 'caller:'

function countersOf({ epoch = '', ...counts }: Record<string, string>): PartitionCounters {
  const count = (name: string) => Number(counts[name] ?? 0)
  const callers = Object.fromEntries(
    Object.entries(counts)
      .filter(([name]) => name.startsWith(CALLER))
      .map(([name, points]) => [name.slice(CALLER.length), Number(points)]),
  )
  return {
    epoch,
    admitted: Object.values(callers).reduce((sum, points) => sum + points, 0),
    callers,
    checkins: count('checkins'),
    duplicate: count('duplicate'),
    dropped: count('dropped'),
    settled: count('settled'),
    erased: count('erased'),
    expired: count('expired'),
  }
}
