/**
 * `bun bare.ts <port> <what> [argument]`: the upper limit of a server on Bun. check-in: parses the JSON and
 * returns 202. durable: the same, after Redis has stored the body. track: parses and validates a batch with
 * the product's own check. bytes: returns a file's bytes from memory. select: one SELECT 1 on the given
 * database.
 */
import { readFileSync } from 'node:fs'
import Redis from 'ioredis'
import postgres from 'postgres'
import { acceptTrack } from '#shared/points/accept.ts'
import { fastTrackSync } from '#shared/contracts/gps-points.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'

type Fetch = (request: Request) => Response | Promise<Response>

const answers: Record<string, (argument: string) => Fetch> = {
  'check-in': () => async (request) => {
    const { user_id } = (await request.json()) as { user_id: string }
    return Response.json({ ok: true, data: { user_id } }, { status: 202 })
  },
  durable(url) {
    const redis = new Redis(url)
    const process = crypto.randomUUID()
    let count = 0
    let fields: string[] = []
    let stored: Promise<unknown> = Promise.resolve()
    /** Stores all bodies of one turn of the event loop with one command. */
    const store = (body: string): Promise<unknown> => {
      if (fields.length === 0)
        stored = new Promise((resolve) => setImmediate(resolve)).then(() => {
          const all = fields
          fields = []
          return redis.hset('bodies', ...all)
        })
      fields.push(`${process}${count++}`, body)
      return stored
    }
    return async (request) => {
      const body = await request.text()
      const { user_id } = JSON.parse(body) as { user_id: string }
      await store(body)
      return Response.json({ ok: true, data: { user_id } }, { status: 202 })
    }
  },
  track() {
    const rules = {
      calendar: createCalendar('Asia/Taipei'),
      area: () => true,
      maxAgeMs: 30 * 86_400_000,
      clearedMs: () => null,
    }
    return async (request) => {
      const batch = fastTrackSync(await request.json())
      if (batch === null) return new Response('', { status: 400 })
      return Response.json({ accepted: acceptTrack(batch.points, Date.now(), rules).points.length })
    }
  },
  bytes(file) {
    const bytes = readFileSync(file)
    return () => new Response(bytes, { headers: { 'Content-Type': 'application/json' } })
  },
  select(url) {
    const sql = postgres(url, { max: 10, onnotice: () => undefined })
    return async () => Response.json({ ok: true, data: (await sql`SELECT 1 AS one`)[0] })
  },
}

const [port, what, argument = ''] = process.argv.slice(2)
Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: answers[what!]!(argument) })
