/** Reads how much of the month's message quota is used. */
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

/** @throws Refusal 503 when LINE does not answer */
export async function readUsage({ db, log }: ServiceContext, line: Line | null): Promise<LineUsage> {
  if (line === null) return NOTHING
  let quota: Quota
  try {
    quota = await line.quota()
  } catch (error) {
    log.warn('the quota could not be read from LINE', errorFields(error))
    throw unavailable('LINE does not answer. Please try again in a moment.')
  }
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
