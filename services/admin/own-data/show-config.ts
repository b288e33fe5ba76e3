/** What an app needs at its start. It is answered even when all stores are unavailable. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import type { EventConfig } from '#shared/contracts/event-config.ts'
import { time } from '#shared/contracts/fields.ts'
import { statusWithin } from '../lifecycle/status-within.ts'

/** Version of the privacy notice of the app at `/walk/`. A new text gets a new version, and pilgrims are asked again. */
const PRIVACY_VERSION = '2026-1'

const instant = (ms: number | null) => (ms === null ? null : time(ms))

export async function showConfig(context: ServiceContext): Promise<EventConfig> {
  const { config, now } = context
  const status = await statusWithin(context)
  return {
    name: config.eventName,
    time_zone: config.timeZone,
    identity: config.identity,
    liff_id: config.line.liffId || null,
    privacy_version: PRIVACY_VERSION,
    push_key: config.push?.publicKey ?? null,
    status: status?.status ?? null,
    message: status?.message ?? null,
    starts_at: instant(config.startsMs),
    ends_at: instant(config.endsMs),
    as_of: time(now()),
  }
}
