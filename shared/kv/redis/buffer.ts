/** What the flush and the readers ask of the buffer. */
import { type Kv, partitionOf } from '../kv.ts'
import { asked, type Client } from './connection.ts'

const PAGE = 10_000

type BufferVerbs = Pick<
  Kv,
  'peek' | 'pendingUsers' | 'drain' | 'settle' | 'renew' | 'bufferSize' | 'oldestPending' | 'books' | 'moved' | 'hide' | 'hidden'
>

const entriesOf = (hash: Record<string, string>) =>
  Object.entries(hash).map(([field, value]) => ({ field, value }))

/** @param client asked by readers @param background asked by the flush, with more patience */
export function bufferVerbs(client: Client, background: Client, tags: readonly string[]): BufferVerbs {
  return {
    async peek(userId) {
      const tag = tags[partitionOf(userId, tags.length)]!
      return entriesOf(await asked(client.hgetall(`${tag}:buf:${userId}`)))
    },
    async pendingUsers(partition) {
      const users: string[] = []
      for (;;) {
        const page = await asked<string[]>(
          background.zrange(`${tags[partition]}:pending`, users.length, String(users.length + PAGE - 1)),
        )
        users.push(...page)
        if (page.length < PAGE) return users
      }
    },
    async drain(partition, userIds) {
      if (userIds.length === 0) return []
      const pipeline = background.pipeline()
      for (const userId of userIds) pipeline.hgetall(`${tags[partition]}:buf:${userId}`)
      const replies = await asked<[Error | null, Record<string, string>][]>(pipeline.exec())
      return Promise.all(
        replies.map(async ([error, hash], i) => ({
          userId: userIds[i]!,
          entries: entriesOf(error === null ? hash : await asked(Promise.reject(error))),
        })),
      )
    },
    async settle(partition, stored) {
      const args = stored.flatMap(({ userId, entries }) => [
        userId,
        entries.length,
        ...entries.flatMap(({ field, value }) => [field, value]),
      ])
      if (args.length > 0) await asked(background.gpsSettle(tags[partition]!, ...args))
    },
    async renew(partition, userIds, retentionMs) {
      const pipeline = background.pipeline()
      for (const userId of userIds) pipeline.pexpire(`${tags[partition]}:buf:${userId}`, retentionMs)
      await asked(pipeline.exec())
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
    async books() {
      const books = await Promise.all(
        tags.map((tag) => asked<Record<string, string>>(client.hgetall(`${tag}:books`))),
      )
      return books.map(({ epoch = '', admitted = '0', duplicate = '0' }) => ({
        epoch,
        admitted: Number(admitted),
        duplicate: Number(duplicate),
      }))
    },
    async hide(userId, hidden) {
      const key = `${tags[partitionOf(userId, tags.length)]}:hidden`
      await asked(hidden ? client.sadd(key, userId) : client.srem(key, userId))
    },
    hidden: (partition) => asked(background.smembers(`${tags[partition]}:hidden`)),
    async moved(partition, sinceMs, count) {
      const tag = tags[partition]!
      const flat = await asked<string[]>(
        background.zrangebyscore(`${tag}:moved`, sinceMs, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
      )
      if (flat.length === 0) return []
      const users = flat.filter((_, i) => i % 2 === 0)
      const places = await asked<(string | null)[]>(background.hmget(`${tag}:live`, ...users))
      return users.flatMap((userId, i) => {
        const [t, lat, lng] = places[i]?.split(',').map(Number) ?? []
        if (t === undefined || lat === undefined || lng === undefined) return []
        return [{ userId, t, lat, lng, movedMs: Number(flat[2 * i + 1]) }]
      })
    },
  }
}
