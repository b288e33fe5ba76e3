/** What the buffer tells of a message's recipients. */
import { peekInTime, waitingInTime } from '#shared/buffer/peek.ts'
import { type Point, unpack } from '#shared/buffer/point.ts'
import type { Entry, Kv } from '#shared/kv/kv.ts'

export interface Heard {
  /** Everybody with points in the buffer; nobody while it can not be asked: a message then goes by what is stored. */
  readonly waiting: readonly string[]
  /** Points in the area that wait, of some of them. */
  read(userIds: readonly string[]): Promise<ReadonlyMap<string, readonly Point[]>>
}

/** Asks the buffer; outside of any transaction, so that a kv that is silent holds up nobody else. */
export async function hearBuffer(kv: Kv): Promise<Heard> {
  const waiting = (await waitingInTime(kv)) ?? []
  return {
    waiting,
    async read(userIds) {
      const held = (await peekInTime(kv, userIds)) ?? []
      return new Map(userIds.map((userId, i) => [userId, (held[i] ?? []).flatMap(readable)]))
    },
  }
}

/** Entries that can not be read are the flush's to set aside. */
function readable(entry: Entry): Point[] {
  try {
    const point = unpack(entry)
    return point.inRange ? [point] : []
  } catch {
    return []
  }
}
