/** The admin service: operators' endpoints, the health report, the API documentation and the event's page. */
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { clustersEndpoint } from '#shared/contracts/clusters.ts'
import { confirmEmergencyEndpoint, emergenciesEndpoint } from '#shared/contracts/emergencies.ts'
import type { Erasure } from '#shared/contracts/erasure.ts'
import {
  eventConfigEndpoint,
  eventNoticeEndpoint,
  surveyFormEndpoint,
  translatedWordsEndpoint,
} from '#shared/contracts/event-config.ts'
import {
  eventSettingsEndpoint,
  setEventContactEndpoint,
  setEventLanguagesEndpoint,
  setEventNameEndpoint,
  setEventMessagesEndpoint,
  setEventNoticeEndpoint,
  setEventSurveyEndpoint,
  setEventRouteEndpoint,
  setEventWordsEndpoint,
  setRehearsalEndpoint,
  setTranslationEndpoint,
  translationTableEndpoint,
  resetRehearsalEndpoint,
} from '#shared/contracts/event-settings.ts'
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
import {
  conditionEndpoint,
  lastHourEndpoint,
  makeTokenEndpoint,
  revokeTokenEndpoint,
  tokensEndpoint,
} from '#shared/contracts/supervision.ts'
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
import { priceOf } from '#shared/service/security/caller-and-address-limits.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { createRouter, type Router } from '#shared/service/http/router.ts'
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
import { endActivity, previewEnd, readActivity, setStatus } from './lifecycle/pause-resume-end.ts'
import { serveDocumentation } from './documentation/serve-documentation.ts'
import { createHealth } from './lifecycle/health.ts'
import { eraseUser } from './erasure/erase-pilgrim.ts'
import { createErasureSweep } from './erasure/finish-erasures.ts'
import { readOwnWalk } from './own-data/read-own-walk.ts'
import { showConfig, showNotice, showSurveyForm, showWords } from './own-data/show-config.ts'
import { exportUser } from './pilgrims/export-user.ts'
import { createFirstSettings, readSettings, setPart, setRehearsal } from './event/set-event.ts'
import { setTranslation, showTable } from './event/set-translation.ts'
import { resetRehearsal } from './lifecycle/reset-rehearsal.ts'
import { forceFlush } from './lifecycle/force-flush.ts'
import { listAudit } from './reports/list-audit.ts'
import {
  listDeadLetters,
  readDeadLetter,
  dropDeadLetter,
  requeueDeadLetter,
} from './ledger/manage-dead-letters.ts'
import { showLedger } from './ledger/show-ledger.ts'
import { listSurveys, surveysCsv } from './reports/list-surveys.ts'
import { listUsers } from './pilgrims/list-users.ts'
import { listMessagesOfUser } from './pilgrims/list-messages-of-user.ts'
import { listPoints } from './pilgrims/points-of-day.ts'
import { showUser } from './pilgrims/show-user.ts'
import { createStream } from './stream/stream.ts'
import { confirmEmergency, listEmergencies } from './supervision/emergencies.ts'
import { listTokens, makeToken, revokeToken } from './supervision/manage-tokens.ts'
import { createReceivedCount, createLastHour } from './supervision/last-hour.ts'
import { createCondition } from './supervision/read-condition.ts'
import { readTimeline } from './reports/timeline.ts'

function serveEvent({ serve }: Router, context: ServiceContext): void {
  serve(roleEndpoint, ({ operator }) => {
    const { role, level, name } = operator
    return { role, level, name }
  })
  serve(readStatusEndpoint, () => readActivity(context))
  serve(setStatusEndpoint, ({ operator, body }) => setStatus(context, operator, body))
  serve(endActivityEndpoint, ({ operator }) => endActivity(context, operator))
  serve(endPreviewEndpoint, () => previewEnd(context))
  serve(eventSettingsEndpoint, () => readSettings(context))
  serve(setEventNameEndpoint, ({ operator, body }) => setPart(context, operator, 'name', body))
  serve(setEventContactEndpoint, ({ operator, body }) => setPart(context, operator, 'contact', body))
  serve(setEventLanguagesEndpoint, ({ operator, body }) => setPart(context, operator, 'languages', body))
  serve(translationTableEndpoint, ({ params }) => showTable(context, params.language))
  serve(setTranslationEndpoint, ({ operator, body }) => setTranslation(context, operator, body))
  serve(setEventRouteEndpoint, ({ operator, body }) => setPart(context, operator, 'route', body))
  serve(setEventSurveyEndpoint, ({ operator, body }) => setPart(context, operator, 'survey', body))
  serve(setEventMessagesEndpoint, ({ operator, body }) => setPart(context, operator, 'messages', body))
  serve(setEventNoticeEndpoint, ({ operator, body }) => setPart(context, operator, 'notice', body))
  serve(setEventWordsEndpoint, ({ operator, body }) => setPart(context, operator, 'words', body))
  serve(resetRehearsalEndpoint, ({ operator, body }) => resetRehearsal(context, operator, body.name))
  serve(setRehearsalEndpoint, ({ operator, body }) => setRehearsal(context, operator, body))
  serve(surveysEndpoint, ({ operator, query, request }) =>
    request.headers.get('accept')?.includes('text/csv')
      ? surveysCsv(context, operator)
      : listSurveys(context, query, operator),
  )
  serve(carbonEndpoint, () => readCarbon(context))
  serve(timelineEndpoint, () => readTimeline(context))
  const clusters = createClusters(context)
  serve(clustersEndpoint, ({ query }) => clusters(query))
  serve(auditEndpoint, ({ query }) => listAudit(context, query))
  const stream = createStream(context)
  serve(streamEndpoint, ({ request, query }) => stream.open(request, query.zoom))
}

/**
 * Reads whose cost grows with a pilgrim's points: a few run at a time, and only as many wait as can be answered in
 * time.
 */
const createReadings = (): BoundedQueue =>
  createBoundedQueue({
    running: 2,
    waiting: 50,
    full: 'The service is busy with other long readings: please try again in a moment.',
  })

function servePeople({ serve }: Router, context: ServiceContext, readings: BoundedQueue): void {
  serve(usersEndpoint, ({ query, operator }) => listUsers(context, query, operator))
  serve(userEndpoint, ({ operator, params }) => showUser(context, operator, params.userId))
  serve(userPointsEndpoint, ({ operator, params, query }) =>
    readings.run(() => listPoints(context, operator, params.userId, query)),
  )
  serve(userMessagesEndpoint, ({ operator, params }) => listMessagesOfUser(context, operator, params.userId))
  serve(revokeTrackerOfUserEndpoint, ({ operator, params }) =>
    revokeTrackerOfUser(context, operator, params.userId, params.id),
  )
  serve(revokeSharesOfUserEndpoint, ({ operator, params }) =>
    revokeSharesOfUser(context, operator, params.userId),
  )
  serve(palanquinEndpoint, ({ operator, params, body }) =>
    setPalanquin(context, operator, params.userId, body),
  )
  serve(userStatusEndpoint, ({ operator, params, body }) =>
    setUserStatus(context, operator, params.userId, body),
  )
  serve(exportUserEndpoint, ({ operator, params, query }) =>
    readings.run(() => exportUser(context, operator, params.userId, query.format)),
  )
  serve(eraseUserEndpoint, async ({ operator, params }) =>
    erasureAnswer(await eraseUser(context, operator, params.userId)),
  )
  serve(rolesEndpoint, ({ query, operator }) => listRoles(context, query, operator))
  serve(assignRoleEndpoint, ({ operator, body }) => assignRole(context, operator, body))
}

function serveLedger({ serve }: Router, context: ServiceContext): void {
  serve(ledgerEndpoint, () => showLedger(context))
  serve(deadLettersEndpoint, ({ query }) => listDeadLetters(context, query))
  serve(deadLetterEndpoint, ({ params }) => readDeadLetter(context, params.id))
  serve(requeueDeadLetterEndpoint, ({ operator, params }) => requeueDeadLetter(context, operator, params.id))
  serve(dropDeadLetterEndpoint, ({ operator, params }) => dropDeadLetter(context, operator, params.id))
  serve(forceFlushEndpoint, ({ operator }) => forceFlush(context, operator))
}

function serveSupervision(
  { serve }: Router,
  context: ServiceContext,
  health: ReturnType<typeof createHealth>,
): ReturnType<typeof createReceivedCount> {
  const condition = createCondition(context, health)
  serve(conditionEndpoint, () => condition())
  serve(tokensEndpoint, () => listTokens(context))
  serve(makeTokenEndpoint, ({ operator, body }) => makeToken(context, operator, body))
  serve(revokeTokenEndpoint, ({ operator, params }) => revokeToken(context, operator, params.fingerprint))
  serve(emergenciesEndpoint, () => listEmergencies(context))
  serve(confirmEmergencyEndpoint, ({ operator, params }) => confirmEmergency(context, operator, params.id))
  const received = createReceivedCount(context)
  const lastHour = createLastHour(context, received.read)
  serve(lastHourEndpoint, () => lastHour())
  return received
}

function serveOwnData({ serve }: Router, context: ServiceContext, readings: BoundedQueue): void {
  serve(eventConfigEndpoint, () => showConfig(context))
  serve(eventNoticeEndpoint, () => showNotice(context))
  serve(surveyFormEndpoint, () => showSurveyForm(context))
  serve(translatedWordsEndpoint, ({ params, request }) => showWords(context, request, params.language))
  const chargePending = async (request: Request, userId: string, exported = 0): Promise<void> => {
    const [pending] = (await peekWithin(context.kv.pendingOf([userId]))) ?? []
    context.reads.charge(context.addressOf(request), priceOf(pending) + priceOfExport(exported))
  }
  serve(ownWalkEndpoint, async ({ body, request }) => {
    await chargePending(request, body.user_id)
    return readings.run(() => readOwnWalk(context, body))
  })
  serve(ownExportEndpoint, async ({ body, request }) => {
    await chargePending(request, body.user_id, await storedPoints(context, body.user_id))
    return readings.run(() => exportUser(context, null, body.user_id, body.format))
  })
  serve(ownErasureEndpoint, async ({ body, requestId }) => {
    return erasureAnswer(await eraseUser(context, { ...PILGRIM, requestId }, body.user_id))
  })
}

/** In milliseconds of a processor: an export writes each stored point. */
const priceOfExport = (points: number): number => Math.ceil(points / 15)

async function storedPoints({ db }: ServiceContext, userId: string): Promise<number> {
  const [row] = await db.read(
    () => db.sql<{ points: number }[]>`SELECT points FROM pilgrim_totals WHERE user_id = ${userId}`,
  )
  return row?.points ?? 0
}

/** Actor of a pilgrim in the audit log, which contains no pilgrims' names. */
const PILGRIM = { role: 'pilgrim', name: 'pilgrim', fingerprint: '' } as const

const erasureAnswer = (erasure: Erasure): Erasure | Response =>
  erasure.remaining.length === 0 ? erasure : Response.json({ ok: true, data: erasure }, { status: 202 })

function serveHealth({ serve }: Router, health: ReturnType<typeof createHealth>): void {
  serve(healthEndpoint, async () => {
    const report = await health()
    const healthy = report.db === 'ok' && report.kv === 'ok'
    // Uptime monitors read flat fields, so the report is also at the top level.
    return Response.json({ ok: healthy, data: report, ...report }, { status: healthy ? 200 : 503 })
  })
}

export function createAdmin(context: ServiceContext): Service {
  const { db, kv, log, outbox } = context
  const router = createRouter(context)
  const jobs = [...createErasureSweep(context), createFirstSettings(context)]
  const readings = createReadings()
  serveDocumentation(router, context)
  serveEvent(router, context)
  servePeople(router, context, readings)
  serveLedger(router, context)
  const health = createHealth(context)
  const received = serveSupervision(router, context, health)
  serveHealth(router, health)
  serveOwnData(router, context, readings)
  return {
    name: 'admin',
    fetch: router.app.fetch,
    async start() {
      for (const job of jobs) job.start()
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
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createAdmin)
}
