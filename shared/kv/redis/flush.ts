/** What the flush asks of the buffer. */
import type { Kv } from '../kv.ts'
import { entriesOf } from './reading.ts'
import { asked, type Client } from './connection.ts'

/** Pilgrims listed in one call. */
const PAGE = 10_000

/** @param client one with the patience for thousands of points a call */
export function flushVerbs(
  client: Client,
  tags: readonly string[],
): Pick<Kv, 'epoch' | 'pendingUsers' | 'drain' | 'settle' | 'renew'> {
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
      for (const userId of userIds) pipeline.hgetall(`${tags[partition]}:buf:${userId}`)
      const hashes = await allOf<Record<string, string>>(pipeline)
      return hashes.map((hash, i) => ({ userId: userIds[i]!, entries: entriesOf(hash) }))
    },
    async settle(partition, stored, epoch = '') {
      const args = stored.flatMap(({ userId, entries }) => [
        userId,
        entries.length,
        ...entries.flatMap(({ field, value }) => [field, value]),
      ])
      if (args.length > 0) await asked(client.gpsSettle(tags[partition]!, epoch, ...args))
    },
    async renew(partition, userIds, retentionMs) {
      const pipeline = client.pipeline()
      for (const userId of userIds) pipeline.pexpire(`${tags[partition]}:buf:${userId}`, retentionMs)
      await allOf(pipeline)
    },
  }
}

/** The replies of a pipeline; the first failure fails it whole. */
const allOf = <Reply>(pipeline: ReturnType<Client['pipeline']>): Promise<Reply[]> =>
  asked(
    pipeline.exec().then((replies) =>
      (replies ?? []).map(([error, reply]) => {
        if (error !== null) throw error
        return reply
      }),
    ),
  )
