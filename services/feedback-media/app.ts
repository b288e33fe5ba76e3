import type { Service, ServiceContext } from '#shared/context.ts'
import { createRouter } from '#shared/http/router.ts'

export function createFeedbackMedia(context: ServiceContext): Service {
  return {
    name: 'feedback-media',
    fetch: createRouter(context).fetch,
    async start() {},
    async stop() {},
  }
}
