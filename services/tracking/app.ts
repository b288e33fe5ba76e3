/** The tracking service: check-ins, tracks, the live map, and the map of followers. Its hot path uses the kv only. */
import { join } from 'node:path'
import { readStatus } from '#shared/pilgrims/activity-status.ts'
import { mendKvCopies, publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { type Buffer, createBuffer } from '#shared/points/buffer.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import { createLastFlush } from '#shared/points/pending-points.ts'
import { createRedo, type Redo } from '#shared/points/redo/redo.ts'
import { openRedoLog, redoDirectory } from '#shared/points/redo/redo-log.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { raiseEmergencyEndpoint } from '#shared/contracts/emergencies.ts'
import { checkInEndpoint, dataEndpoint, trackSyncEndpoint } from '#shared/contracts/tracking.ts'
import { mapEndpoint, routeEndpoint } from '#shared/contracts/map.ts'
import { followFullDays } from '#shared/points/full-days.ts'
import { admissionRules } from '#shared/points/admission.ts'
import { syncTrack } from '#shared/points/sync-track.ts'
import { type Count, openProcessCounters } from '#shared/points/ledger/counters.ts'
import { createRouter, type Router } from '#shared/service/http/router.ts'
import { openObjects } from '#shared/stores/objects/open-objects.ts'
import { isKvUnavailable } from '#shared/stores/kv/kv.ts'
import type { InArea } from '#shared/runtime/config/setting-values.ts'
import { within } from '#shared/runtime/deadline.ts'
import {
  createTrackerEndpoint,
  listTrackersEndpoint,
  revokeTrackerEndpoint,
} from '#shared/contracts/trackers.ts'
import { checkIn } from '#shared/points/check-in.ts'
import { createPressSpool, type PressSpool, raiseEmergency } from './emergencies/record-press.ts'
import { serveIngest } from './ingest/serve-ingest.ts'
import { LivePositions } from './map/latest-positions.ts'
import { FollowersMap } from './map/map-snapshots.ts'
import { Palanquin } from './map/palanquin.ts'
import { createRouteAnswer } from './map/show-route.ts'
import { PublicMap } from './map/public-map.ts'
import { createMap } from './map/show-map.ts'
import { isClaim } from '#shared/service/security/claims.ts'
import { TrackerKeys } from './tracker-apps/find-key.ts'
import { createTracker, listTrackers, revokeTracker } from './tracker-apps/manage-trackers.ts'

/**
 * Maximum delay of the start by the maps: half a million positions take longer. Until they are loaded, maps get 503.
 */
const MAP_MS = 2_000

export function createTracking(context: ServiceContext): Service {
  const { config, kv, db, now, log, metrics } = context
  const journal = openJournal(join(config.dataDir, 'journal'), config.buffer.journalMax)
  const counters = openProcessCounters({
    kv,
    db,
    log,
    journalPath: journal.path,
    journaled: () => journal.points(),
  })
  const rules = admissionRules(config)
  const prime = () =>
    publishStatus(db, kv).catch((error: unknown) => {
      if (!isKvUnavailable(error)) throw error
      // A replica that starts while the kv is unavailable still needs the status for each check-in.
      return readStatus(db)
    })
  const buffer = createBuffer({
    kv,
    metrics,
    journal,
    redo: config.redisUrl === '' ? null : openRedo(context, { rules, count: counters.count }),
    counters,
    rules,
    admitMs: config.buffer.admitMs,
    prime,
    now,
    log,
  })
  // With crowds of one, the map shows everybody exactly and at once.
  const countsAsClaim = (userId: string) => config.mapCrowd > 1 && isClaim(config, userId)
  const live = new LivePositions(kv, now, log, context.stopwatch, countsAsClaim)
  registerMetrics(context, buffer, live, counters.rejected)

  const router = createRouter(context)
  const disk = openObjects(`file:${join(config.dataDir, 'alarms')}`, config.s3)
  // A directory that cannot be opened is reported with each press that needs it.
  disk.catch(() => undefined)
  const presses = createPressSpool(context, disk)
  const palanquin = new Palanquin(context)
  servePoints(router, context, { buffer, palanquin, presses, count: counters.count })
  serveTrackers(router, context)
  const followers = serveMaps(router, context, live, palanquin)
  let isOpen = true
  let mapped = Promise.resolve()
  return {
    name: 'tracking',
    fetch: router.app.fetch,
    async start() {
      await buffer.start()
      mapped = live.start().then(() => (isOpen ? followers.start() : undefined))
      await within(mapped, MAP_MS, () => undefined)
      counters.start()
      presses.draining.start()
    },
    async stop() {
      isOpen = false
      await presses.draining.stop()
      await live.stop()
      await mapped
      await followers.stop()
      await buffer.stop()
      await counters.stop()
      journal.close()
    },
  }
}

/**
 * Stores the points that Redis admitted until a flush has stored them, and for the time of one more flush.
 */
function openRedo(
  { config, kv, db, now, log, metrics, stopwatch }: ServiceContext,
  options: Pick<Parameters<typeof createRedo>[0], 'rules' | 'count'>,
): Redo {
  const lastFlush = createLastFlush({ db, kv, now, stopwatch })
  const redoLog = openRedoLog({ dir: redoDirectory(config.dataDir), stopwatch, log })
  const neededMs = async (): Promise<number | null> => {
    const [flushMs, oldestMs, storeMs] = await Promise.all([lastFlush(), kv.oldestPending(), kv.clock()])
    if (flushMs === null) return null
    return Math.max(now() - flushMs, storeMs - (oldestMs ?? storeMs)) + config.flushMs
  }
  metrics.gauge('event_redo_log_bytes', redoLog.bytes)
  metrics.gauge('event_redo_log_left_out', redoLog.leftOut)
  const refill = async (): Promise<void> => {
    await publishStatus(db, kv)
    await mendKvCopies({ db, kv, log, metrics })
  }
  return createRedo({ ...options, kv, db, redoLog, refill, neededMs, log })
}

interface Taking {
  readonly buffer: Buffer
  readonly palanquin: Palanquin
  readonly presses: PressSpool
  readonly count: Count
}

function servePoints(
  router: Router,
  context: ServiceContext,
  { buffer, palanquin, presses, count }: Taking,
): void {
  const { config, calendar, event, now } = context
  const area: InArea = (lat, lng) => event.current.area(lat, lng)
  const clearedMs = () => event.current.clearedMs
  const fullDaysOf = followFullDays(context.kv, context.stopwatch)
  const accept = { calendar, area, maxAgeMs: config.maxAgeMs, clearedMs, fullDaysOf, count }
  const checkInRules = { ...accept, limit: config.limits.checkin }
  const syncRules = { ...accept, limit: config.limits.sync }
  const ingestRules = { ...accept, limit: config.limits.ingest }
  const phones = { admitDurably: palanquin.following(buffer.admitDurably, null) }
  const admitTrack = palanquin.following(buffer.admitTrack, null)
  router.serve(checkInEndpoint, ({ body }) => checkIn(phones, body, now(), checkInRules))
  router.serve(trackSyncEndpoint, ({ body }) => syncTrack(admitTrack, body, now(), syncRules))
  router.serve(raiseEmergencyEndpoint, ({ body }) => raiseEmergency(presses, body, now()))
  const keys = new TrackerKeys(context)
  serveIngest(router, context, {
    admit: (keyHash) => palanquin.following(buffer.admitDurably, keyHash),
    presses,
    findKey: (key) => keys.find(key),
    noteUse: (keyHash, use) => keys.noteUse(keyHash, use),
    noteAhead: (keyHash, ahead) => keys.noteAhead(keyHash, ahead),
    rules: ingestRules,
    isClaim: (userId) => isClaim(config, userId),
    now,
    chargeAlarm: (request) => context.alarms.charge(context.addressOf(request)),
  })
}

function serveTrackers({ serve }: Router, context: ServiceContext): void {
  serve(createTrackerEndpoint, ({ body, request }) =>
    createTracker(context, body, context.addressOf(request)),
  )
  serve(listTrackersEndpoint, ({ query }) => listTrackers(context, query.user_id))
  serve(revokeTrackerEndpoint, ({ params, query }) => revokeTracker(context, query.user_id, params.id))
}

/** The live map, the public map and the route. @returns the public map, to be started */
function serveMaps(
  { serve }: Router,
  context: ServiceContext,
  live: LivePositions,
  palanquin: Palanquin,
): FollowersMap {
  const { config, now } = context
  const publicMap = new PublicMap(live, config.mapCrowd, now)
  const showMap = createMap(context, live, publicMap)
  serve(dataEndpoint, ({ query, operator }) => showMap(query, operator))
  const followers = new FollowersMap(context, publicMap, palanquin)
  serve(mapEndpoint, ({ request, query }) => followers.answer(request, query.since))
  const showRoute = createRouteAnswer(context.event)
  serve(routeEndpoint, ({ request, query }) => showRoute(request, query.v))
  return followers
}

function registerMetrics(
  { metrics }: ServiceContext,
  buffer: Buffer,
  live: LivePositions,
  rejected: () => Readonly<Record<string, number>>,
): void {
  metrics.gauge('event_journal_check_ins', () => buffer.journaled())
  metrics.gauge('event_live_positions', () => live.held())
  metrics.figures('event_points_rejected', rejected)
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createTracking)
}
