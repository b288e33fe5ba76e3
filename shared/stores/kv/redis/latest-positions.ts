/** Live positions, hidden pilgrims and erasures. */
import { type Erased, type Kv, type Moved, partitionOf, STANDS_MS, storedMs, userHash } from '../kv.ts'
import { allOf, asked, type Client } from './connection.ts'

/** Erasures per call: the stack of a script holds some thousands of values. */
const ERASURES_A_CALL = 1_000
const stored = (one: Erased): (string | number)[] => [one.userHash, one.generation, storedMs(one)]

/** @param requests the connection of requests: a pilgrim waits for `hide` in a transaction, so it settles soon */
export function liveMapVerbs(
  client: Client,
  requests: Client,
  tags: readonly string[],
): Pick<Kv, 'moved' | 'hide' | 'hidden' | 'refused' | 'erase' | 'storeErasures' | 'erased' | 'erasedAfter'> {
  return {
    async erase(userId, erased, caches = []) {
      const tag = tags[partitionOf(userId, tags.length)]!
      const pending = await asked<number>(
        client.gpsErase(tag, userId, ...stored({ userHash: userHash(userId), ...erased })),
      )
      await Promise.all(caches.map((key) => asked(client.del(`cache:${key}`))))
      return pending
    },
    async storeErasures(erased) {
      if (erased.length === 0) return
      // A hash does not reveal the pilgrim's partition, so every partition stores every erasure.
      for (let from = 0; from < erased.length; from += ERASURES_A_CALL) {
        const some = erased.slice(from, from + ERASURES_A_CALL).flatMap(stored)
        await Promise.all(tags.map((tag) => asked(client.gpsErase(tag, '', ...some))))
      }
    },
    async erased(partition) {
      const key = `${tags[partition]}:erased`
      const held = new Map<string, Erased>()
      for await (const page of pages((cursor) => client.hscan(key, cursor, 'COUNT', PAGE)))
        for (let i = 0; i < page.length; i += 2) held.set(page[i]!, erasedOf(page[i]!, page[i + 1]!))
      return [...held.values()]
    },
    async erasedAfter(partition, mark) {
      const key = `${tags[partition]}:erased-order`
      const [, last = '0'] = await asked<string[]>(client.zrange(key, '-1', '-1', 'WITHSCORES'))
      // The store has lost its data, and its clock was set back.
      const from = Number(last) < mark ? 0 : mark
      if (Number(last) === from) return { userHashes: [], mark: from }
      const page = await asked<string[]>(
        client.zrangebyscore(key, `(${from}`, '+inf', 'WITHSCORES', 'LIMIT', 0, PAGE),
      )
      return { userHashes: page.filter((_, i) => i % 2 === 0), mark: Number(page.at(-1)) }
    },
    moved: (partition, sinceMs, count) => moved(client, tags[partition]!, sinceMs, count),
    async hide(userId, hidden, refused = false) {
      const tag = tags[partitionOf(userId, tags.length)]!
      await asked(requests.gpsHide(tag, userId, Number(hidden), Number(refused)))
    },
    hidden: (partition) => membersOf(client, `${tags[partition]}:hidden`),
    refused: (partition) => membersOf(client, `${tags[partition]}:refused`),
  }
}

const PAGE = 1_000

/** Reads a set or a hash in pages: nothing else is answered while Redis reads one. An entry may come twice. */
async function* pages(scan: (cursor: string) => Promise<[string, string[]]>): AsyncGenerator<string[]> {
  let cursor = '0'
  do {
    const [next, page] = await asked<[string, string[]]>(scan(cursor))
    yield page
    cursor = next
  } while (cursor !== '0')
}

async function membersOf(client: Client, key: string): Promise<string[]> {
  const members = new Set<string>()
  for await (const page of pages((cursor) => client.sscan(key, cursor, 'COUNT', PAGE)))
    for (const member of page) members.add(member)
  return [...members]
}

function erasedOf(hash: string, stamp: string): Erased {
  const [generation = 0, time = 0] = stamp.split('|').map(Number)
  const stands = time >= STANDS_MS
  return { userHash: hash, generation, erasedMs: stands ? time - STANDS_MS : time, stands }
}

async function moved(client: Client, tag: string, sinceMs: number, count: number): Promise<Moved[]> {
  const flat = await asked<string[]>(
    client.zrangebyscore(`${tag}:moved`, sinceMs, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
  )
  if (flat.length === 0) return []
  const users = flat.filter((_, i) => i % 2 === 0)
  const [places, hidden, returning] = await allOf<(string | number | null)[]>(
    client
      .pipeline()
      .hmget(`${tag}:live`, ...users)
      .smismember(`${tag}:hidden`, ...users)
      .zmscore(`${tag}:returning`, ...users),
  )
  return users.flatMap((userId, i) => {
    const [t, lat, lng] = String(places?.[i] ?? '')
      .split(',')
      .map(Number)
    if (t === undefined || lat === undefined || lng === undefined) return []
    const hiddenUntilMs = hidden?.[i] === 1 ? Infinity : Number(returning?.[i] ?? 0)
    return [{ userId, t, lat, lng, movedMs: Number(flat[2 * i + 1]), hiddenUntilMs }]
  })
}
