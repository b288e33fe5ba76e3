/** The tracking service: check-ins, tracks, and the live map. Its hot path touches the kv only. */
import { join } from 'node:path'
import { primeKv, readStatus } from '#shared/activity.ts'
import { createBuffer } from '#shared/buffer/buffer.ts'
import { openJournal } from '#shared/buffer/journal.ts'
import type { Service, ServiceContext } from '#shared/context.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { admissionRules } from '#shared/buffer/rules.ts'
import { syncTrack } from '#shared/buffer/sync-track.ts'
import { createRouter, serve } from '#shared/http/router.ts'
import { kvIsAway } from '#shared/kv/kv.ts'
import { checkIn } from './check-in.ts'
import { displayNames } from './display-names.ts'
import { LivePositions, liveMap } from './live-map.ts'

export function createTracking(context: ServiceContext): Service {
  const { config, kv, db, calendar, now, log, metrics } = context
  const journal = openJournal(join(config.dataDir, 'journal'), config.buffer.journalMax)
  const buffer = createBuffer({
    kv,
    journal,
    rules: admissionRules(config),
    admitMs: config.buffer.admitMs,
    prime: () =>
      primeKv(db, kv).catch((error: unknown) => {
        if (!kvIsAway(error)) throw error
        // A replica that starts while the kv is away still knows what to do with a check-in.
        return readStatus(db)
      }),
    now,
    log,
  })
  const live = new LivePositions(kv, now, log)
  const accept = { calendar, area: config.area, maxAgeMs: config.maxAgeMs }
  const checkInRules = { ...accept, limit: config.limits.checkin }
  const syncRules = { ...accept, limit: config.limits.sync }
  metrics.gauge('journal_entries', 'Check-ins that wait in the journal for the kv', () => buffer.journaled())

  const router = createRouter(context)
  serve(router, context, checkInEndpoint, ({ body }) => checkIn(buffer, body, now(), checkInRules))
  serve(router, context, trackSyncEndpoint, ({ body }) =>
    syncTrack(buffer.admitTrack, body, now(), syncRules),
  )
  serve(router, context, dataEndpoint, async ({ query, operator }) => {
    const shown =
      operator === null
        ? null
        : await displayNames(
            db,
            live.read(query).map(({ userId }) => userId),
          )
    return liveMap(live, query, now(), shown)
  })

  return {
    name: 'tracking',
    fetch: router.fetch,
    async start() {
      await Promise.all([buffer.start(), live.start()])
    },
    async stop() {
      await live.stop()
      await buffer.stop()
      journal.close()
    },
  }
}
