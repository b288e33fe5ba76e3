/** The methods of the kv that the flush uses. */
import type { Entry, Kv } from '../kv.ts'
import { allOf, asked, type Client } from './connection.ts'

/** Pilgrims listed or renewed in one call. */
const PAGE = 10_000

/** @param client a connection with a timeout for thousands of points per call */
export function flushVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'epoch' | 'pendingUsers' | 'drain' | 'acknowledge' | 'renew'> {
  return {
    epoch: async (partition) =>
      (await asked<string | null>(client.hget(`${tags[partition]}:ledger`, 'epoch'))) ?? '',
    async pendingUsers(partition) {
      const users: string[] = []
      for (;;) {
        const page = await asked<string[]>(
          client.zrange(`${tags[partition]}:pending`, users.length, String(users.length + PAGE - 1)),
        )
        users.push(...page)
        if (page.length < PAGE) return users
      }
    },
    async drain(partition, userIds) {
      const pipeline = client.pipeline()
      // In capitals, the client returns the reply as a list: building objects with thousands of keys costs more than
      // the read itself.
      for (const userId of userIds) pipeline.call('HGETALL', `${tags[partition]}:buf:${userId}`)
      const lists = await allOf<string[]>(pipeline)
      return lists.map((list, i) => ({ userId: userIds[i]!, entries: pairsOf(list) }))
    },
    async acknowledge(partition, stored, epoch = '') {
      if (stored.length === 0) return
      const lists = stored.map(({ userId, entries }) => {
        const list = [userId]
        for (const { field, value } of entries) list.push(field, value)
        return list
      })
      await asked(client.gpsAcknowledge(tags[partition]!, epoch, JSON.stringify(lists)))
    },
    async renew(partition, userIds, retentionMs) {
      for (let from = 0; from < userIds.length; from += PAGE) {
        const pipeline = client.pipeline()
        for (const userId of userIds.slice(from, from + PAGE))
          pipeline.pexpire(`${tags[partition]}:buf:${userId}`, retentionMs)
        await allOf(pipeline)
      }
    },
  }
}

/** Turns alternating fields and values into entries. */
function pairsOf(list: readonly string[]): Entry[] {
  const entries: Entry[] = []
  for (let i = 0; i < list.length; i += 2) entries.push({ field: list[i]!, value: list[i + 1]! })
  return entries
}
