/** What readers ask of the buffer: a profile, the health report, the metrics. */
import { type Entry, type Kv, partitionOf } from '../kv.ts'
import { asked, type Client } from './connection.ts'

/** A pilgrim's hash as entries, in no order. */
export const entriesOf = (hash: Record<string, string>): Entry[] =>
  Object.entries(hash).map(([field, value]) => ({ field, value }))

export function readingVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'peek' | 'bufferSize' | 'oldestPending' | 'books'> {
  return {
    async peek(userId) {
      const tag = tags[partitionOf(userId, tags.length)]!
      return entriesOf(await asked(client.hgetall(`${tag}:buf:${userId}`)))
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
      return books.map(({ epoch = '', admitted = '0', checkins = '0', duplicate = '0', erased = '0' }) => ({
        epoch,
        admitted: Number(admitted),
        checkins: Number(checkins),
        duplicate: Number(duplicate),
        erased: Number(erased),
      }))
    },
  }
}
