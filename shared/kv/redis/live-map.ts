/** Live positions, hidden pilgrims and erasures. */
import { type Kv, type Moved, partitionOf } from '../kv.ts'
import { asked, type Client } from './connection.ts'

/** @param requests the connection of requests: a pilgrim waits for `hide` in a transaction, so it settles soon */
export function liveMapVerbs(
  client: Client,
  requests: Client,
  tags: readonly string[],
): Pick<Kv, 'moved' | 'hide' | 'hidden' | 'erase' | 'storeErasures' | 'erased'> {
  return {
    async erase(userId, { generation, erasedMs }, caches = []) {
      const tag = tags[partitionOf(userId, tags.length)]!
      const pending = await asked<number>(client.gpsErase(tag, userId, generation, erasedMs))
      await Promise.all(caches.map((key) => asked(client.del(`cache:${key}`))))
      return pending
    },
    async storeErasures(erased) {
      if (erased.length === 0) return
      const fields = erased.flatMap(({ userHash, generation, erasedMs }) => [
        userHash,
        `${generation}|${erasedMs}`,
      ])
      // A hash does not reveal the pilgrim's partition, so every partition stores every erasure.
      await Promise.all(tags.map((tag) => asked(client.hset(`${tag}:erased`, ...fields))))
    },
    async erased(partition) {
      const held = await asked<Record<string, string>>(client.hgetall(`${tags[partition]}:erased`))
      return Object.entries(held).map(([userHash, stamp]) => {
        const [generation = 0, erasedMs = 0] = stamp.split('|').map(Number)
        return { userHash, generation, erasedMs }
      })
    },
    moved: (partition, sinceMs, count) => moved(client, tags[partition]!, sinceMs, count),
    async hide(userId, hidden) {
      const key = `${tags[partitionOf(userId, tags.length)]}:hidden`
      await asked(hidden ? requests.sadd(key, userId) : requests.srem(key, userId))
    },
    hidden: (partition) => asked(client.smembers(`${tags[partition]}:hidden`)),
  }
}

async function moved(client: Client, tag: string, sinceMs: number, count: number): Promise<Moved[]> {
  const flat = await asked<string[]>(
    client.zrangebyscore(`${tag}:moved`, sinceMs, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
  )
  if (flat.length === 0) return []
  const users = flat.filter((_, i) => i % 2 === 0)
  const places = await asked<(string | null)[]>(client.hmget(`${tag}:live`, ...users))
  return users.flatMap((userId, i) => {
    const [t, lat, lng] = places[i]?.split(',').map(Number) ?? []
    if (t === undefined || lat === undefined || lng === undefined) return []
    return [{ userId, t, lat, lng, movedMs: Number(flat[2 * i + 1]) }]
  })
}
