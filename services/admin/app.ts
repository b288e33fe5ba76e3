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
import { createRouter, type Router, serve } from '#shared/service/http/router.ts'
import { assignRole, listRoles, setPalanquin, setUserStatus } from './pilgrims/set-role-and-status.ts'
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
import { listPoints } from './pilgrims/list-points.ts'
import { revokeSharesOfUser, revokeTrackerOfUser } from './pilgrims/revoke-links.ts'
import { showUser } from './pilgrims/show-user.ts'
import { createStream } from './stream/stream.ts'
import { listTokens } from './supervision/list-tokens.ts'
import { createReceivedCount, createLastHour } from './supervision/last-hour.ts'
import { createCondition } from './supervision/read-condition.ts'
import { readTimeline } from './reports/timeline.ts'

/** Operators' endpoints about the event. */
function serveEvent(router: Router, context: ServiceContext): void {
  serve(router, context, roleEndpoint, ({ operator }) => {
    const { role, level, name } = operator
    return { role, level, name }
  })
  serve(router, context, readStatusEndpoint, () => readActivity(context))
  serve(router, context, setStatusEndpoint, ({ operator, body }) => setStatus(context, operator, body))
  serve(router, context, endActivityEndpoint, ({ operator }) => endActivity(context, operator))
  serve(router, context, endPreviewEndpoint, () => previewEnd(context))
  serve(router, context, surveysEndpoint, ({ operator, query, request }) =>
    request.headers.get('accept')?.includes('text/csv')
      ? surveysCsv(context, operator)
      : listSurveys(context, query),
  )
  serve(router, context, carbonEndpoint, () => readCarbon(context))
  serve(router, context, timelineEndpoint, () => readTimeline(context))
  const clusters = createClusters(context)
  serve(router, context, clustersEndpoint, ({ query }) => clusters(query))
  serve(router, context, auditEndpoint, ({ query }) => listAudit(context, query))
  const stream = createStream(context)
  serve(router, context, streamEndpoint, ({ request, query }) => stream.open(request, query.zoom))
}

/** Readings whose cost grows with a pilgrim's points: some at a time, and no more wait than can be answered in time. */
const createReadings = (): BoundedQueue =>
  createBoundedQueue({
    running: 2,
    waiting: 50,
    full: 'The service is busy with other long readings: please try again in a moment.',
  })

/** Operators' endpoints about people. */
function servePeople(router: Router, context: ServiceContext, readings: BoundedQueue): void {
  serve(router, context, usersEndpoint, ({ query }) => listUsers(context, query))
  serve(router, context, userEndpoint, ({ operator, params }) => showUser(context, operator, params.userId))
  serve(router, context, userPointsEndpoint, ({ operator, params, query }) =>
    readings.run(() => listPoints(context, operator, params.userId, query)),
  )
  serve(router, context, userMessagesEndpoint, ({ operator, params }) =>
    listMessagesOfUser(context, operator, params.userId),
  )
  serve(router, context, revokeTrackerOfUserEndpoint, ({ operator, params }) =>
    revokeTrackerOfUser(context, operator, params.userId, params.id),
  )
  serve(router, context, revokeSharesOfUserEndpoint, ({ operator, params }) =>
    revokeSharesOfUser(context, operator, params.userId),
  )
  serve(router, context, palanquinEndpoint, ({ operator, params, body }) =>
    setPalanquin(context, operator, params.userId, body),
  )
  serve(router, context, userStatusEndpoint, ({ operator, params, body }) =>
    setUserStatus(context, operator, params.userId, body),
  )
  serve(router, context, exportUserEndpoint, ({ operator, params, query }) =>
    readings.run(() => exportUser(context, operator, params.userId, query.format)),
  )
  serve(router, context, eraseUserEndpoint, async ({ operator, params }) =>
    erasureAnswer(await eraseUser(context, operator, params.userId)),
  )
  serve(router, context, rolesEndpoint, ({ query }) => listRoles(context, query))
  serve(router, context, assignRoleEndpoint, ({ operator, body }) => assignRole(context, operator, body))
}

/** The ledger, dead letters, and the flush on demand. */
function serveLedger(router: Router, context: ServiceContext): void {
  serve(router, context, ledgerEndpoint, () => showLedger(context))
  serve(router, context, deadLettersEndpoint, ({ query }) => listDeadLetters(context, query))
  serve(router, context, deadLetterEndpoint, ({ params }) => readDeadLetter(context, params.id))
  serve(router, context, requeueDeadLetterEndpoint, ({ operator, params }) =>
    requeueDeadLetter(context, operator, params.id),
  )
  serve(router, context, dropDeadLetterEndpoint, ({ operator, params }) =>
    dropDeadLetter(context, operator, params.id),
  )
  serve(router, context, forceFlushEndpoint, ({ operator }) => forceFlush(context, operator))
}

/** How the installation is, and who operates it. */
function serveSupervision(
  router: Router,
  context: ServiceContext,
  health: ReturnType<typeof createHealth>,
): ReturnType<typeof createReceivedCount> {
  const condition = createCondition(context, health)
  serve(router, context, conditionEndpoint, () => condition())
  serve(router, context, tokensEndpoint, () => listTokens(context))
  const received = createReceivedCount(context)
  const lastHour = createLastHour(context, received.read)
  serve(router, context, lastHourEndpoint, () => lastHour())
  return received
}

/** Pilgrims' own data. */
function serveOwnData(router: Router, context: ServiceContext, readings: BoundedQueue): void {
  serve(router, context, eventConfigEndpoint, () => showConfig(context))
  const chargePending = async (request: Request, userId: string): Promise<void> => {
    const [pending] = (await peekWithin(context.kv.pendingOf([userId]))) ?? []
    context.reads.charge(context.addressOf(request), priceOf(pending))
  }
  serve(router, context, ownWalkEndpoint, async ({ body, request }) => {
    await chargePending(request, body.user_id)
    return readings.run(() => readOwnWalk(context, body))
  })
  serve(router, context, ownExportEndpoint, async ({ body, request }) => {
    expectOwnId(context.config, body.user_id)
    await chargePending(request, body.user_id)
    return readings.run(() => exportUser(context, null, body.user_id, body.format))
  })
  serve(router, context, ownErasureEndpoint, async ({ body, requestId }) => {
    expectOwnId(context.config, body.user_id)
    return erasureAnswer(await eraseUser(context, { ...PILGRIM, requestId }, body.user_id))
  })
}

/** A pilgrim in the audit log, which never names them. */
const PILGRIM = { role: 'pilgrim', name: 'pilgrim', fingerprint: '' } as const

const erasureAnswer = (erasure: Erasure): Erasure | Response =>
  erasure.remaining.length === 0 ? erasure : Response.json({ ok: true, data: erasure }, { status: 202 })

/** Public endpoints: health, the API documentation. */
function servePublic(router: Router, context: ServiceContext, health: ReturnType<typeof createHealth>): void {
  serveDocumentation(router, context)
  serve(router, context, healthEndpoint, async () => {
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
  serveEvent(router, context)
  servePeople(router, context, readings)
  serveLedger(router, context)
  const health = createHealth(context)
  const received = serveSupervision(router, context, health)
  servePublic(router, context, health)
  serveOwnData(router, context, readings)
  return {
    name: 'admin',
    fetch: router.fetch,
    async start() {
      erasureSweep.start()
      received.start()
      // An earlier process may have stored a change and died before it published it.
      await publishStatus(db, kv).catch((error: unknown) =>
        log.warn('publishing the status failed and will be repeated', errorFields(error)),
      )
      await outbox.on('admin.spread-status', async () => {
        await publishStatus(db, kv)
      })
    },
    stop() {
      received.stop()
      return erasureSweep.stop()
    },
  }
}

if (import.meta.main) await runService(createAdmin)
