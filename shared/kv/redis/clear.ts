/** Emptying the store. */
import { asked, type Client, masters } from './connection.ts'

/** Every key that this driver makes. */
const OURS = /^(\{gps:\d+\}:|(cache|limit|lock):|partitions$)/
const KEYS_A_CALL = 1_000

/** Deletes this driver's keys from every node; another's stay. */
export async function clear(client: Client, partitions: number): Promise<void> {
  for (const node of masters(client)) {
    let cursor = '0'
    do {
      const [next, keys] = await asked<[string, string[]]>(node.scan(cursor, 'COUNT', KEYS_A_CALL))
      cursor = next
      await asked(Promise.all(keys.filter((key) => OURS.test(key)).map((key) => node.unlink(key))))
    } while (cursor !== '0')
  }
  await asked(client.set('partitions', partitions))
}
