/** A store in memory: for tests, and for programs that may lose it. */
import { type Entry, isPointKind, type QueueStore, type Rejected, type Waits } from './store.ts'

type Named = Pick<Entry, 'userId' | 'kind' | 't'>
const keyOf = ({ userId, kind, t }: Named): string => `${userId} ${kind} ${t}`

let created = 0

export function createMemoryStore(): QueueStore {
  const points = new Map<string, Entry>()
  const rejected = new Map<string, Rejected>()
  const waits = new Map<string, Waits>()
  const of = <T extends Named>(kept: Map<string, T>, userId: string): T[] =>
    [...kept.values()].filter((point) => point.userId === userId).sort((a, b) => a.t - b.t)

  return {
    name: `memory-${++created}`,
    async add(given) {
      for (const point of given) if (!points.has(keyOf(point))) points.set(keyOf(point), point)
    },
    oldest: async (userId, kind, limit) =>
      of(points, userId)
        .filter((point) => point.kind === kind)
        .slice(0, limit),
    async settle(durable, refused) {
      for (const point of refused) if (points.has(keyOf(point))) rejected.set(keyOf(point), point)
      for (const point of [...durable, ...refused]) points.delete(keyOf(point))
    },
    async counts(userId, kinds) {
      const own = of(points, userId)
      const counts = kinds.map((name) => [name, own.filter(({ kind }) => kind === name).length])
      const refused = of(rejected, userId).filter(({ kind }) => isPointKind(kind)).length
      return { ...(Object.fromEntries(counts) as Record<string, number>), rejected: refused }
    },
    rejected: async (userId) => of(rejected, userId),
    async dismiss(given) {
      for (const point of given) rejected.delete(keyOf(point))
    },
    waits: async (userId) => waits.get(userId) ?? {},
    setWaits: async (userId, given) => void waits.set(userId, given),
    async clear(userId) {
      for (const kept of [points, rejected])
        for (const point of of<Named>(kept, userId)) kept.delete(keyOf(point))
      waits.delete(userId)
    },
    close: async () => undefined,
  }
}
