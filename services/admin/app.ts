/** The admin service: what operators read and decide, and the health report. */
import { spreadStatus } from '#shared/activity.ts'
import type { Service, ServiceContext } from '#shared/context.ts'
import {
  healthEndpoint,
  readStatusEndpoint,
  roleEndpoint,
  setStatusEndpoint,
} from '#shared/contracts/operations.ts'
import { createRouter, serve } from '#shared/http/router.ts'
import { createHealth } from './health.ts'
import { readActivity, setStatus } from './status.ts'

export function createAdmin(context: ServiceContext): Service {
  const { db, kv, outbox } = context
  const health = createHealth(context)
  const router = createRouter(context)

  serve(router, context, roleEndpoint, ({ operator }) => {
    const { role, level, name } = operator!
    return { role, level, name }
  })
  serve(router, context, readStatusEndpoint, () => readActivity(context))
  serve(router, context, setStatusEndpoint, ({ operator, body, requestId }) =>
    setStatus(context, operator!, body, requestId),
  )
  serve(router, context, healthEndpoint, async () => {
    const report = await health()
    const healthy = report.db === 'ok' && report.kv === 'ok'
    // Flat fields beside the envelope: uptime monitors read those.
    return Response.json({ ok: healthy, data: report, ...report }, { status: healthy ? 200 : 503 })
  })

  return {
    name: 'admin',
    fetch: router.fetch,
    async start() {
      await outbox.on('admin.spread-status', async () => {
        await spreadStatus(db, kv)
      })
    },
    async stop() {},
  }
}
