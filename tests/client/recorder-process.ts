/** A recorder as a Bun script: stores a walk in a file, sends it, and may be killed at any moment. */
import { createClient, createTrackQueue } from '#shared/client/index.ts'
import { openSqliteStore } from '#shared/client/queue/sqlite-store.ts'

const [baseUrl, userId, file, startMs, count] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
]
const client = createClient({ baseUrl, identity: { userId } })
const queue = createTrackQueue({ client, store: openSqliteStore(file), limits: { points: 5 } })
for (let i = 0; i < Number(count); i++) {
  const point = { lat: 24.15 + i / 10_000, lng: 120.67, timestamp: Number(startMs) + i * 1_000 }
  const kept = await queue.record(point)
  if (!kept.ok) throw new Error(kept.error.message)
}
console.log('recorded')
const { waiting, why } = await queue.send()
console.log(waiting.points === 0 ? 'sent' : `waiting: ${why}`)
