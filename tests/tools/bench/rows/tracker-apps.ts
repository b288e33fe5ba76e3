/** A request of each tracker app with one position, compared with a check-in on the same process. */
import Redis from 'ioredis'
import postgres from 'postgres'
import { type Fix, FORMS, iso, type Sent } from '#tests/tracking/tracker-bodies.ts'
import { load } from '../load.ts'
import type { Row, Sample, Scale } from '../measure.ts'
import { closeAll, startDatabase, startPinned, startStore, withCpu } from '../measured-processes.ts'

const TRACKERS = 2_000
/** Each run uses earlier seconds, so that no point is a repetition. */
let runs = 0

/** Its times become placeholders of `load/tracker.lua`. */
const FIX: Fix = { lat: 24.147712, lng: 120.673612, ms: 1_700_000_000_000, speedMs: 1.4 }
const withPlaceholders = (text = ''): string =>
  text
    .replaceAll(`${FIX.ms / 1_000}`, 'TIME')
    .replaceAll(iso(FIX).slice(0, 19), 'DATE')
    .replaceAll(encodeURIComponent(iso(FIX).slice(0, 19)), 'DATE')

/** A tracking service, and trackers whose keys are their numbers. */
async function startTracked() {
  const [database, redis] = await Promise.all([startDatabase(), startStore('everysec')])
  const sql = postgres(database.url, { max: 1 })
  await sql`
    INSERT INTO trackers (id, user_id, key_hash, created_at)
    SELECT gen_random_uuid(), 'U' || lpad(to_hex(i), 32, '0'),
      encode(sha256(lpad(i::text, 32, '0')::bytea), 'hex'), now()
    FROM generate_series(0, ${TRACKERS - 1}) AS i`
  await sql.end()
  const tracking = await startPinned('tracking', {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    EVENT_LIMIT_INGEST: '1000000',
  })
  const processes = { tracking: tracking.pid, Redis: redis.pid }
  const measure = async (
    script: 'check-in' | 'tracker',
    args: readonly (string | number)[],
    scale: Scale,
  ) => {
    const { loaded, cpu } = await withCpu(processes, () =>
      load({ script, url: tracking.url, args, seconds: scale.seconds }),
    )
    return { requests: loaded.requests, figure: loaded.requests / loaded.seconds, cpu }
  }
  return {
    redis,
    checkIns: (scale: Scale): Promise<Sample> =>
      measure('check-in', ['/api/event/checkin', TRACKERS, runs++, 'kept'], scale),
    positions({ app, method, query, type = '', body }: Sent, scale: Scale) {
      const path = `/api/event/ingest/KEY/${app}${query === undefined ? '' : `?${withPlaceholders(query)}`}`
      return measure('tracker', [path, TRACKERS, runs++, method, type, withPlaceholders(body)], scale)
    },
    close: () => closeAll([tracking, database, redis]),
  }
}

const PARTS = ['tracking', 'Redis']

const rowOf = ([name, form]: readonly [string, (fix: Fix) => Sent]): Row => ({
  id: `tracker-${name.toLowerCase().replaceAll(/\W+/g, '-')}`,
  title: `a position from ${name}, to tracking alone`,
  unit: 'requests/s',
  warm: true,
  untested: name !== 'OwnTracks, iOS',
  async open(scale) {
    const { checkIns, positions, close } = await startTracked()
    return {
      contenders: [
        { name, role: 'ours', measure: () => positions(form(FIX), scale) },
        { name: 'a check-in', role: 'limit', measure: () => checkIns(scale) },
      ],
      goals: [{ of: 'a check-in', cpu: { ours: PARTS, other: PARTS }, atMost: 1.3 }],
      close,
    }
  },
})

export const trackerApps: readonly Row[] = Object.entries(FORMS).map(rowOf)

/** Number of GETs counted by Redis. */
async function getsOf(url: string): Promise<number> {
  const redis = new Redis(url)
  const stats = await redis.info('commandstats')
  redis.disconnect()
  return Number(/cmdstat_get:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

export const trackerReads: Row = {
  id: 'tracker-reads',
  title: `reads of Redis for a position from a tracker app, ${TRACKERS.toLocaleString('en')} trackers`,
  unit: 'GETs',
  warm: true,
  async open(scale) {
    const { redis, positions, close } = await startTracked()
    return {
      contenders: [
        {
          name: 'OwnTracks',
          role: 'ours',
          async measure() {
            const before = await getsOf(redis.url)
            const { requests } = await positions(FORMS['OwnTracks, iOS']!(FIX), scale)
            return ((await getsOf(redis.url)) - before) / requests
          },
        },
      ],
      goals: [{ of: null, atMost: 0.1 }],
      close,
    }
  },
}
