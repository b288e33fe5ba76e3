import type { Service, ServiceContext } from '#shared/context.ts'
import { createRouter } from '#shared/http/router.ts'

export function createLineBot(context: ServiceContext): Service {
  return {
    name: 'line-bot',
    fetch: createRouter(context).fetch,
    async start() {},
    async stop() {},
  }
}
