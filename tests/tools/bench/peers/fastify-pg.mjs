// What most teams write: Fastify on Node, its schema validation, and pg: one insert a request.
// Arguments: port, Postgres URL
import Fastify from 'fastify'
import pg from 'pg'

const [port, connectionString] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, max: 10 })
await pool.query(`CREATE TABLE IF NOT EXISTS peer_points (
  user_id text, sent_at timestamptz, lat float8, lng float8, accuracy float4, PRIMARY KEY (user_id, sent_at))`)

const point = {
  type: 'object',
  required: ['lat', 'lng', 'timestamp'],
  properties: {
    lat: { type: 'number', minimum: -90, maximum: 90 },
    lng: { type: 'number', minimum: -180, maximum: 180 },
    timestamp: { type: 'string', maxLength: 64 },
    accuracy: { type: 'number' },
  },
}
const userId = { type: 'string', minLength: 1, maxLength: 128 }
const checkIn = {
  ...point,
  required: ['user_id', ...point.required],
  properties: { ...point.properties, user_id: userId },
}
const sync = {
  type: 'object',
  required: ['user_id', 'points'],
  properties: { user_id: userId, points: { type: 'array', items: point } },
}

const app = Fastify()
app.post('/api/event/checkin', { schema: { body: checkIn } }, async ({ body }, reply) => {
  await pool.query({
    name: 'check-in',
    text: 'INSERT INTO peer_points VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    values: [body.user_id, body.timestamp, body.lat, body.lng, body.accuracy],
  })
  reply.code(202)
  return { ok: true, data: { userId: body.user_id } }
})
app.post('/api/event/track/sync', { schema: { body: sync } }, async ({ body }) => {
  const values = body.points.flatMap((p) => [body.user_id, p.timestamp, p.lat, p.lng, p.accuracy])
  const rows = body.points.map(
    (_, i) => `($${5 * i + 1}, $${5 * i + 2}, $${5 * i + 3}, $${5 * i + 4}, $${5 * i + 5})`,
  )
  await pool.query({
    name: `sync-${rows.length}`,
    text: `INSERT INTO peer_points VALUES ${rows.join()} ON CONFLICT DO NOTHING`,
    values,
  })
  return { ok: true, data: { accepted: body.points.length } }
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
