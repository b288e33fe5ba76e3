/** The survey-profile service: profiles, surveys, consent, and statistics of pilgrims. */
import { followFullDays } from '#shared/points/full-days.ts'
import { publishStatus } from '#shared/pilgrims/kv-copies.ts'
import { admissionRules, createDirectAdmission } from '#shared/points/admission.ts'
import type { Service, ServiceContext } from '#shared/service/context.ts'
import {
  participantStatusEndpoint,
  phoneEndpoint,
  profileEndpoint,
  userSyncEndpoint,
  photoCountEndpoint,
  privacyEndpoint,
} from '#shared/contracts/profile.ts'
import { submitEndpoint, surveyEndpoint } from '#shared/contracts/survey.ts'
import { isDatabaseUnavailable } from '#shared/stores/db/db.ts'
import { readPilgrimsDegraded } from '#shared/points/totals/pilgrim-statistics.ts'
import { openProcessCounters } from '#shared/points/ledger/counters.ts'
import { createRouter } from '#shared/service/http/router.ts'
import { readExposure, toPublicProfile, expectProfile } from '#shared/pilgrims/profile.ts'
import { createBatchLoader } from '#shared/runtime/batch-loader.ts'
import { priceOf } from '#shared/service/security/caller-and-address-limits.ts'
import { provesIdentity } from '#shared/service/security/pilgrim-identity.ts'
import { countPhotos } from './count-photos.ts'
import { recordConsent } from './record-consent.ts'
import { setParticipantStatus, setPhone, syncUser } from './write-profile.ts'
import { submitSurvey, type TrackAdmission } from './submit-survey.ts'

export function createSurveyProfile(context: ServiceContext): Service {
  const { config, db, event, kv, calendar, log, metrics } = context
  // This service writes no files, so it has no journal.
  const counters = openProcessCounters({ kv, db, log, journalPath: null, journaled: () => 0 })
  const trackAdmission: TrackAdmission = {
    admitTrack: createDirectAdmission({
      kv,
      rules: admissionRules(config),
      counters,
      prime: () => publishStatus(db, kv),
      metrics,
    }),
    rules: {
      calendar,
      area: (lat, lng) => event.current.area(lat, lng),
      maxAgeMs: config.maxAgeMs,
      clearedMs: () => event.current.clearedMs,
      fullDaysOf: followFullDays(kv),
      limit: config.limits.sync,
      count: counters.count,
    },
  }
  const read = createBatchLoader(async (userIds) => {
    const [pilgrims, exposureOf] = await Promise.all([
      readPilgrimsDegraded(context, userIds),
      readExposure(context),
    ])
    const readingOf = (userId: string) => ({ pilgrim: pilgrims.get(userId), exposure: exposureOf(userId) })
    return new Map(userIds.map((userId) => [userId, readingOf(userId)]))
  }, isDatabaseUnavailable)
  const router = createRouter(context)
  const { serve } = router
  for (const endpoint of [submitEndpoint, surveyEndpoint])
    serve(endpoint, ({ body }) => submitSurvey(context, trackAdmission, body))
  serve(userSyncEndpoint, ({ body }) => syncUser(context, body))
  serve(phoneEndpoint, ({ body }) => setPhone(context, body))
  serve(privacyEndpoint, ({ body }) => recordConsent(context, body))
  serve(participantStatusEndpoint, ({ body }) => setParticipantStatus(context, body))
  serve(photoCountEndpoint, ({ query }) => countPhotos(context, query.user_id))
  serve(profileEndpoint, async ({ params: { userId }, operator, request }) => {
    const { pilgrim, exposure } = (await read(userId))!
    if (operator === null) context.reads.charge(context.addressOf(request), priceOf(pilgrim?.pending))
    const found = expectProfile(context.event.current, userId, pilgrim)
    const whole = operator !== null || (await provesIdentity(context, request, userId))
    return whole ? found : toPublicProfile(context, found, pilgrim, exposure)
  })
  return {
    name: 'survey-profile',
    fetch: router.app.fetch,
    async start() {
      counters.start()
    },
    stop: () => counters.stop(),
  }
}

if (import.meta.main) {
  const { runService } = await import('#shared/service/service.ts')
  await runService(createSurveyProfile)
}
