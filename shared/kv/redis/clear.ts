/** Deletes all data of the kv. */
import { asked, type Client, masters } from './connection.ts'

/** Matches all keys of this driver. */
const OWN_KEYS = /^(\{gps:\d+\}:|(cache|limit|lock):|partitions$)/
const KEYS_A_CALL = 1_000

/** Deletes this driver's keys from every node; keys of other programs stay. */
export async function clear(client: Client, partitions: number): Promise<void> {
  for (const node of masters(client)) {
    let cursor = '0'
    do {
      const [next, keys] = await asked<[string, string[]]>(node.scan(cursor, 'COUNT', KEYS_A_CALL))
      cursor = next
      await asked(Promise.all(keys.filter((key) => OWN_KEYS.test(key)).map((key) => node.unlink(key))))
    } while (cursor !== '0')
  }
  await asked(client.set('partitions', partitions))
}
