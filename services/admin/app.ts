/** The admin service: operators' endpoints, the health report, the API documentation and the event's page. */
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { runService } from '#shared/service/service.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { clustersEndpoint } from '#shared/contracts/clusters.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import { eventConfigEndpoint } from '#shared/contracts/event-config.ts'
import {
  endActivityEndpoint,
  endPreviewEndpoint,
  healthEndpoint,
  readStatusEndpoint,
  roleEndpoint,
  setStatusEndpoint,
} from '#shared/contracts/operations.ts'
import {
  assignRoleEndpoint,
  carbonEndpoint,
  eraseUserEndpoint,
  rolesEndpoint,
  surveysEndpoint,
  timelineEndpoint,
  usersEndpoint,
  palanquinEndpoint,
  userStatusEndpoint,
} from '#shared/contracts/reports.ts'
import { conditionEndpoint, tokensEndpoint, lastHourEndpoint } from '#shared/contracts/supervision.ts'
import { ownErasureEndpoint, ownExportEndpoint, ownWalkEndpoint } from '#shared/contracts/own-data.ts'
import { exportUserEndpoint, userEndpoint } from '#shared/contracts/user-detail.ts'
import {
  revokeSharesOfUserEndpoint,
  revokeTrackerOfUserEndpoint,
  userMessagesEndpoint,
  userPointsEndpoint,
} from '#shared/contracts/user-history.ts'
import { streamEndpoint } from '#shared/contracts/stream.ts'
import {
  deadLetterEndpoint,
  deadLettersEndpoint,
  dropDeadLetterEndpoint,
  forceFlushEndpoint,
  ledgerEndpoint,
  requeueDeadLetterEndpoint,
} from '#shared/contracts/ledger.ts'
import { type BoundedQueue, createBoundedQueue } from '#shared/runtime/bounded-queue.ts'
import { peekWithin } from '#shared/points/pending-points.ts'
import { priceOf } from '#shared/service/security/rate-limits.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { createRouter, type Serve, serve } from '#shared/service/http/router.ts'
import {
  assignRole,
  listRoles,
  setPalanquin,
  setUserStatus,
  revokeSharesOfUser,
  revokeTrackerOfUser,
} from './pilgrims/change-pilgrim.ts'
import { readCarbon } from './reports/carbon.ts'
import { createClusters } from './map/clusters.ts'
import { endActivity, previewEnd, readActivity, setStatus } from './lifecycle/activity-status.ts'
import { serveDocumentation } from './documentation/serve-documentation.ts'
import { createHealth } from './lifecycle/health.ts'
import { eraseUser } from './erasure/erase-pilgrim.ts'
import { createErasureSweep } from './erasure/finish-erasures.ts'
import { expectOwnId } from '#shared/service/security/pilgrim-identity.ts'
import { readOwnWalk } from './own-data/read-own-walk.ts'
import { showConfig } from './own-data/show-config.ts'
import { exportUser } from './pilgrims/export-user.ts'
import { forceFlush } from './lifecycle/force-flush.ts'
import { listAudit } from './reports/list-audit.ts'
import { listDeadLetters, readDeadLetter, dropDeadLetter, requeueDeadLetter } from './ledger/dead-letters.ts'
import { showLedger } from './ledger/show-ledger.ts'
import { listSurveys, surveysCsv } from './reports/list-surveys.ts'
import { listUsers } from './pilgrims/list-users.ts'
import { listMessagesOfUser } from './pilgrims/list-messages-of-user.ts'
import { listPoints } from './pilgrims/points-of-day.ts'
import { showUser } from './pilgrims/show-user.ts'
import { createStream } from './stream/stream.ts'
import { listTokens } from './supervision/list-tokens.ts'
import { createReceivedCount, createLastHour } from './supervision/last-hour.ts'
import { createCondition } from './supervision/read-condition.ts'
import { readTimeline } from './reports/timeline.ts'

/** Operators' endpoints about the event. */
function serveEvent(on: Serve, context: ServiceContext): void {
  on(roleEndpoint, ({ operator }) => {
    const { role, level, name } = operator
    return { role, level, name }
  })
  on(readStatusEndpoint, () => readActivity(context))
  on(setStatusEndpoint, ({ operator, body }) => setStatus(context, operator, body))
  on(endActivityEndpoint, ({ operator }) => endActivity(context, operator))
  on(endPreviewEndpoint, () => previewEnd(context))
  on(surveysEndpoint, ({ operator, query, request }) =>
    request.headers.get('accept')?.includes('text/csv')
      ? surveysCsv(context, operator)
      : listSurveys(context, query),
  )
  on(carbonEndpoint, () => readCarbon(context))
  on(timelineEndpoint, () => readTimeline(context))
  const clusters = createClusters(context)
  on(clustersEndpoint, ({ query }) => clusters(query))
  on(auditEndpoint, ({ query }) => listAudit(context, query))
  const stream = createStream(context)
  on(streamEndpoint, ({ request, query }) => stream.open(request, query.zoom))
}

/** Readings whose cost grows with a pilgrim's points: some at a time, and no more wait than can be answered in time. */
const createReadings = (): BoundedQueue =>
  createBoundedQueue({
    running: 2,
    waiting: 50,
    full: 'The service is busy with other long readings: please try again in a moment.',
  })

/** Operators' endpoints about people. */
function servePeople(on: Serve, context: ServiceContext, readings: BoundedQueue): void {
  on(usersEndpoint, ({ query }) => listUsers(context, query))
  on(userEndpoint, ({ operator, params }) => showUser(context, operator, params.userId))
  on(userPointsEndpoint, ({ operator, params, query }) =>
    readings.run(() => listPoints(context, operator, params.userId, query)),
  )
  on(userMessagesEndpoint, ({ operator, params }) => listMessagesOfUser(context, operator, params.userId))
  on(revokeTrackerOfUserEndpoint, ({ operator, params }) =>
    revokeTrackerOfUser(context, operator, params.userId, params.id),
  )
  on(revokeSharesOfUserEndpoint, ({ operator, params }) =>
    revokeSharesOfUser(context, operator, params.userId),
  )
  on(palanquinEndpoint, ({ operator, params, body }) => setPalanquin(context, operator, params.userId, body))
  on(userStatusEndpoint, ({ operator, params, body }) =>
    setUserStatus(context, operator, params.userId, body),
  )
  on(exportUserEndpoint, ({ operator, params, query }) =>
    readings.run(() => exportUser(context, operator, params.userId, query.format)),
  )
  on(eraseUserEndpoint, async ({ operator, params }) =>
    erasureAnswer(await eraseUser(context, operator, params.userId)),
  )
  on(rolesEndpoint, ({ query }) => listRoles(context, query))
  on(assignRoleEndpoint, ({ operator, body }) => assignRole(context, operator, body))
}

/** The ledger, dead letters, and the flush on demand. */
function serveLedger(on: Serve, context: ServiceContext): void {
  on(ledgerEndpoint, () => showLedger(context))
  on(deadLettersEndpoint, ({ query }) => listDeadLetters(context, query))
  on(deadLetterEndpoint, ({ params }) => readDeadLetter(context, params.id))
  on(requeueDeadLetterEndpoint, ({ operator, params }) => requeueDeadLetter(context, operator, params.id))
  on(dropDeadLetterEndpoint, ({ operator, params }) => dropDeadLetter(context, operator, params.id))
  on(forceFlushEndpoint, ({ operator }) => forceFlush(context, operator))
}

/** How the installation is, and who operates it. */
function serveSupervision(
  on: Serve,
  context: ServiceContext,
  health: ReturnType<typeof createHealth>,
): ReturnType<typeof createReceivedCount> {
  const condition = createCondition(context, health)
  on(conditionEndpoint, () => condition())
  on(tokensEndpoint, () => listTokens(context))
  const received = createReceivedCount(context)
  const lastHour = createLastHour(context, received.read)
  on(lastHourEndpoint, () => lastHour())
  return received
}

/** Pilgrims' own data. */
function serveOwnData(on: Serve, context: ServiceContext, readings: BoundedQueue): void {
  on(eventConfigEndpoint, () => showConfig(context))
  const chargePending = async (request: Request, userId: string): Promise<void> => {
    const [pending] = (await peekWithin(context.kv.pendingOf([userId]))) ?? []
    context.reads.charge(context.addressOf(request), priceOf(pending))
  }
  on(ownWalkEndpoint, async ({ body, request }) => {
    await chargePending(request, body.user_id)
    return readings.run(() => readOwnWalk(context, body))
  })
  on(ownExportEndpoint, async ({ body, request }) => {
    expectOwnId(context.config, body.user_id)
    await chargePending(request, body.user_id)
    return readings.run(() => exportUser(context, null, body.user_id, body.format))
  })
  on(ownErasureEndpoint, async ({ body, requestId }) => {
    expectOwnId(context.config, body.user_id)
    return erasureAnswer(await eraseUser(context, { ...PILGRIM, requestId }, body.user_id))
  })
}

/** A pilgrim in the audit log, which never names them. */
const PILGRIM = { role: 'pilgrim', name: 'pilgrim', fingerprint: '' } as const

const erasureAnswer = (erasure: Erasure): Erasure | Response =>
  erasure.remaining.length === 0 ? erasure : Response.json({ ok: true, data: erasure }, { status: 202 })

function serveHealth(on: Serve, health: ReturnType<typeof createHealth>): void {
  on(healthEndpoint, async () => {
    const report = await health()
    const healthy = report.db === 'ok' && report.kv === 'ok'
    // Uptime monitors read flat fields, so the report is also given beside the envelope.
    return Response.json({ ok: healthy, data: report, ...report }, { status: healthy ? 200 : 503 })
  })
}

export function createAdmin(context: ServiceContext): Service {
  const { db, kv, log, outbox } = context
  const router = createRouter(context)
  const erasureSweep = createErasureSweep(context)
  const readings = createReadings()
  const on: Serve = (endpoint, handler) => serve(router, context, endpoint, handler)
  serveDocumentation(router, context)
  serveEvent(on, context)
  servePeople(on, context, readings)
  serveLedger(on, context)
  const health = createHealth(context)
  const received = serveSupervision(on, context, health)
  serveHealth(on, health)
  serveOwnData(on, context, readings)
  return {
    name: 'admin',
    fetch: router.fetch,
    async start() {
      for (const job of erasureSweep) job.start()
      received.start()
      // An earlier process may have stored a change and died before it published it.
      await publishStatus(db, kv).catch((error: unknown) =>
        log.warn('publishing the status failed and will be repeated', errorFields(error)),
      )
      await outbox.on('admin.spread-status', async () => {
        await publishStatus(db, kv)
      })
    },
    async stop() {
      received.stop()
      await Promise.all(erasureSweep.map((job) => job.stop()))
    },
  }
}

if (import.meta.main) await runService(createAdmin)
