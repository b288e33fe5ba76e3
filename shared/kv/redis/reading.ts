/** The methods of the kv that read the buffer: for profiles, the health report and the metrics. */
import { type Entry, type Kv, type PartitionCounters, partitionOf } from '../kv.ts'
import { allOf, asked, type Client } from './connection.ts'

/** A pilgrim's hash as entries, in no order. */
export const entriesOf = (hash: Record<string, string>): Entry[] =>
  Object.entries(hash).map(([field, value]) => ({ field, value }))

export function readingVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'peek' | 'peekEach' | 'pendingOf' | 'bufferSize' | 'oldestPending' | 'counters'> {
  /** The replies of one command for the buffers of several pilgrims, in their order; a pipeline has one slot. */
  async function ofEach<Reply>(command: 'hgetall' | 'hlen', userIds: readonly string[]): Promise<Reply[]> {
    const byPartition = Map.groupBy(userIds.keys(), (i) => partitionOf(userIds[i]!, tags.length))
    const replies: Reply[] = []
    await Promise.all(
      Array.from(byPartition, async ([partition, places]) => {
        const pipeline = client.pipeline()
        for (const i of places) pipeline[command](`${tags[partition]}:buf:${userIds[i]}`)
        const own = await allOf<Reply>(pipeline)
        for (const [n, i] of places.entries()) replies[i] = own[n]!
      }),
    )
    return replies
  }
  return {
    peek: async (userId) => entriesOf((await ofEach<Record<string, string>>('hgetall', [userId]))[0]!),
    peekEach: async (userIds) => (await ofEach<Record<string, string>>('hgetall', userIds)).map(entriesOf),
    pendingOf: (userIds) => ofEach<number>('hlen', userIds),
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
