// Hono on Bun, and one pipeline to Redis a check-in: a limit, the point, the pilgrim's place.
// Arguments: port, Redis URL
import { Hono } from 'hono'
import Redis from 'ioredis'

const [port, url] = process.argv.slice(2)
const redis = new Redis(url)
const app = new Hono()
app.post('/api/event/checkin', async (c) => {
  const { user_id, lat, lng, timestamp, accuracy } = await c.req.json()
  if (typeof user_id !== 'string' || !(Math.abs(lat) <= 90) || !(Math.abs(lng) <= 180))
    return c.json({ error: 'invalid' }, 400)
  const minute = Math.floor(Date.now() / 60_000)
  const [[, calls]] = await redis
    .pipeline()
    .incr(`limit:${user_id}:${minute}`)
    .expire(`limit:${user_id}:${minute}`, 60)
    .hset(`buf:${user_id}`, timestamp, JSON.stringify([lat, lng, accuracy]))
    .expire(`buf:${user_id}`, 259_200)
    .sadd('pending', user_id)
    .hset('live', user_id, `${timestamp},${lat},${lng}`)
    .exec()
  if (calls > 1_000_000) return c.json({ error: 'too many' }, 429)
  return c.json({ ok: true, data: { userId: user_id } }, 202)
})
Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: app.fetch })
