/**
 * `bun querying.ts <port> <what> <Postgres URL>`: responses that the service reads from totals, computed by a
 * query over all points.
 */
import postgres, { type PendingQuery, type Row } from 'postgres'

const [port, what, url] = process.argv.slice(2)
const sql = postgres(url!, { max: 4, onnotice: () => undefined })

const answers: Record<string, () => PendingQuery<Row[]>> = {
  latest: () => sql`
    SELECT * FROM (
      SELECT DISTINCT ON (user_id) user_id, lat, lng, recorded_at FROM gps_points
      WHERE in_range ORDER BY user_id, recorded_at DESC
    ) AS latest ORDER BY recorded_at DESC LIMIT 1000`,
  cells: () => sql`
    SELECT floor(lng / 0.0125) AS x, floor(lat / 0.0125) AS y, count(*) AS count, count(DISTINCT user_id) AS users
    FROM gps_points WHERE in_range GROUP BY x, y`,
}

Bun.serve({
  port: Number(port),
  hostname: '127.0.0.1',
  idleTimeout: 60,
  fetch: async (request) => {
    // The readiness check must not cost a query.
    if (new URL(request.url).pathname === '/') return new Response('')
    const query = answers[what!]!()
    // An abandoned query would keep running for seconds beside the next measurement.
    request.signal.addEventListener('abort', () => query.cancel())
    return Response.json({ ok: true, data: await query })
  },
  error: () => new Response('', { status: 500 }),
})
