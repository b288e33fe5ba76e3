/** Reads the used part of the month's message quota. */
import { count, eq } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import type { LineUsage } from '#shared/contracts/messages.ts'
import { unavailable } from '#shared/runtime/refusal.ts'
import type { Line, Quota } from '#shared/service/line/line-client.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { followers } from '#shared/stores/schema/tables.ts'

const NOTHING: LineUsage = {
  quota: { type: null, value: null },
  consumption: { total_usage: null },
  remaining: null,
  usage_percent: null,
  followers: null,
  configured: false,
}

/** Asks LINE for the month's quota. @returns null when LINE does not answer, which is logged */
export const askQuota = ({ log }: ServiceContext, line: Line): Promise<Quota | null> =>
  line.quota().catch((error: unknown) => {
    log.warn('the quota could not be read from LINE', errorFields(error))
    return null
  })

/** @throws Refusal 503 when LINE does not answer */
export async function readUsage(context: ServiceContext, line: Line | null): Promise<LineUsage> {
  if (line === null) return NOTHING
  const { db } = context
  const quota = await askQuota(context, line)
  if (quota === null) throw unavailable('LINE does not answer. Please try again in a moment.')
  const { limit, used } = quota
  const [reachable] = await db.read(() =>
    db.orm.select({ count: count() }).from(followers).where(eq(followers.reachable, true)),
  )
  return {
    quota: { type: limit === null ? 'none' : 'limited', value: limit },
    consumption: { total_usage: used },
    remaining: limit === null ? null : Math.max(0, limit - used),
    usage_percent: limit === null ? null : limit === 0 ? 100 : Math.round((used / limit) * 1_000) / 10,
    followers: reachable?.count ?? 0,
    configured: true,
  }
}
