/**
 * Runs services in one process, each on its own port, as each `app.ts` runs one. Separate processes take several times
 * as long to start, and matter only where one is killed. Environment: `SERVICE_PORTS`, a JSON object of ports by
 * service.
 */
import type { ServiceName } from '#shared/contracts/endpoint.ts'
import { runService } from '#shared/service/service.ts'
import { createAdmin } from '#services/admin/app.ts'
import { createFeedbackMedia } from '#services/feedback-media/app.ts'
import { createLineBot } from '#services/line-bot/app.ts'
import { createScheduler } from '#services/scheduler/app.ts'
import { createSurveyProfile } from '#services/survey-profile/app.ts'
import { createTracking } from '#services/tracking/app.ts'

const SERVICES = {
  tracking: createTracking,
  'survey-profile': createSurveyProfile,
  'feedback-media': createFeedbackMedia,
  admin: createAdmin,
  'line-bot': createLineBot,
  scheduler: createScheduler,
}

const { SERVICE_PORTS, ...env } = process.env
const ports = JSON.parse(SERVICE_PORTS!) as Record<ServiceName, number>
for (const [name, port] of Object.entries(ports))
  void runService(SERVICES[name as ServiceName], {
    env: { ...env, PORT: String(port) },
    isBot: name === 'line-bot',
  })
