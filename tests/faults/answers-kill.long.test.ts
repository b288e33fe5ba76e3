/**
 * Postgres is killed between writes and their responses: every acknowledged write of a person or an operator,
 * other than a point, is stored.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { submitFeedback, updateFeedback } from '#services/feedback-media/feedback/reports.ts'
import { assignRole, setUserStatus } from '#services/admin/pilgrims/change-pilgrim.ts'
import { push } from '#services/line-bot/sending/push.ts'
import { setNotifications } from '#services/line-bot/sending/set-notifications.ts'
import { recordConsent } from '#services/survey-profile/record-consent.ts'
import { setParticipantStatus, setPhone } from '#services/survey-profile/write-profile.ts'
import { submitSurvey, type TrackAdmission } from '#services/survey-profile/submit-survey.ts'
import { FeedbackRequest, FeedbackUpdate } from '#shared/contracts/feedback.ts'
import { PushRequest } from '#shared/contracts/messages.ts'
import { SubmitRequest } from '#shared/contracts/survey.ts'
import { migrate } from '#shared/stores/db/migrate.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { OPERATOR } from '#tests/admin/backup-harness.ts'
import { type Server, startPostgres, startRedis } from '#tests/helpers/servers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { SETTINGS } from '#tests/helpers/test-stack.ts'
import { until } from '#tests/helpers/wait.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const KILLS = 3
const WRITERS = 4
/** Responses per writer before a kill. */
const BEFORE = 15

/** What an acknowledged write promises: a query that finds a row. */
type Promised = readonly [name: string, query: string]

describeOnServers('answers of success', () => {
  let postgres: Server
  let redis: Server
  let parts: ServiceParts
  let context: ServiceContext

  beforeAll(async () => {
    ;[postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    await migrate(postgres.url)
    parts = await openServiceParts({ ...SETTINGS, DATABASE_URL: postgres.url, REDIS_URL: redis.url })
    context = parts.context()
    await context.kv.setStatus({ status: 'active', version: 1, message: null })
  }, 180_000)
  afterAll(async () => {
    await parts?.close()
    await Promise.all([postgres?.close(), redis?.close()])
  }, 180_000)

  const noTrack = { admitTrack: () => Promise.reject(new Error('no track')) } as unknown as TrackAdmission
  const pilgrim = (userId: string, condition: string) =>
    `SELECT FROM pilgrims WHERE user_id = '${userId}' AND ${condition}`

  const WRITES: Readonly<Record<string, (userId: string) => Promise<string>>> = {
    async phone(userId) {
      await setPhone(context, { user_id: userId, phone: '+886912345678' })
      return pilgrim(userId, `phone = '+886912345678'`)
    },
    async survey(userId) {
      const request = SubmitRequest.parse({ user_id: userId, survey: { q1: userId } })
      const { revision } = await submitSurvey(context, noTrack, request)
      return `SELECT FROM surveys WHERE answers->>'q1' = '${userId}' AND revision = ${revision}`
    },
    async consent(userId) {
      const { version } = await recordConsent(context, { user_id: userId, agreed: true, version: 'v1' })
      return pilgrim(userId, `privacy_agreed AND privacy_version = '${version}'`)
    },
    async 'consent taken back'(userId) {
      await recordConsent(context, { user_id: userId, agreed: false })
      return pilgrim(userId, 'consent_withdrawn AND NOT privacy_agreed')
    },
    async status(userId) {
      const { participant_status } = await setParticipantStatus(context, {
        user_id: userId,
        status: 'withdrawn',
      })
      return pilgrim(userId, `participant_status = '${participant_status}'`)
    },
    async 'status by an operator'(userId) {
      await setPhone(context, { user_id: userId, phone: null })
      await setUserStatus(context, OPERATOR, userId, { status: 'completed' })
      return pilgrim(userId, `participant_status = 'completed'`)
    },
    async role(userId) {
      await setPhone(context, { user_id: userId, phone: null })
      await assignRole(context, OPERATOR, { user_id: userId, role: 'volunteer' })
      return `SELECT FROM role_assignments WHERE user_id = '${userId}' AND role = 'volunteer'`
    },
    async feedback(userId) {
      const { id } = await submitFeedback(
        context,
        FeedbackRequest.parse({ category: 'c', description: userId }),
      )
      return `SELECT FROM feedback WHERE id = ${id} AND description = '${userId}'`
    },
    async 'a change of feedback'(userId) {
      const { id } = await submitFeedback(
        context,
        FeedbackRequest.parse({ category: 'c', description: userId }),
      )
      const changed = await updateFeedback(
        context,
        OPERATOR,
        id,
        FeedbackUpdate.parse({ status: 'fixed', admin_note: userId }),
      )
      expect(changed).toMatchObject({ status: 'fixed', admin_note: userId })
      return `SELECT FROM feedback WHERE id = ${id} AND status = 'fixed' AND admin_note = '${userId}' AND resolved_at IS NOT NULL`
    },
    async push(userId) {
      await setPhone(context, { user_id: userId, phone: null })
      const request = PushRequest.parse({ user_ids: [userId], text: 'x' })
      const { id } = await push(context, null, OPERATOR, request)
      return `SELECT FROM messages m JOIN audit_log a ON a.details->>'id' = m.id::text WHERE m.id = '${id}'`
    },
    async notifications(userId) {
      const slot = {
        id: userId,
        hour: 9,
        enabled: false,
        dates: null,
        audience: 'all',
        text: { 'zh-Hant': 'x' },
      } as const
      await setNotifications(context, OPERATOR, { slots: [slot] })
      // A later one may have replaced it; its entry in the audit log stays.
      return `SELECT FROM audit_log WHERE action = 'set-notifications' AND details->'slots'->0->>'id' = '${userId}'`
    },
  }

  test('are what the rows say, although Postgres is killed again and again', async () => {
    const promised: Promised[] = []
    let failed = 0
    let n = 0
    for (let kill = 0; kill < KILLS; kill++) {
      let isDead = false
      let answered = 0
      const writer = async (): Promise<void> => {
        while (!isDead)
          for (const [name, write] of Object.entries(WRITES)) {
            if (isDead) return
            try {
              promised.push([name, await write(`person-${++n}`)])
              answered++
            } catch {
              failed++
              // An outage, not a busy loop.
              await Bun.sleep(1)
            }
          }
      }
      const writers = Array.from({ length: WRITERS }, writer)
      await until(() => answered >= BEFORE * WRITERS, 'answers before the kill', { timeoutMs: 60_000 })
      const stopped = postgres.stop('SIGKILL')
      await stopped
      isDead = true
      await Promise.all(writers)
      await postgres.restart()
      await until(
        () =>
          context.db.probe().then(
            () => true,
            () => false,
          ),
        'Postgres',
        { timeoutMs: 60_000 },
      )
    }
    // Some were in progress at each kill.
    expect(failed).toBeGreaterThanOrEqual(KILLS)
    expect(new Set(promised.map(([name]) => name)).size).toBe(Object.keys(WRITES).length)
    const missing: string[] = []
    for (const [name, query] of promised)
      if ((await context.db.read(() => context.db.sql.unsafe(query))).length === 0) missing.push(name)
    expect(missing).toEqual([])
  }, 300_000)
})
