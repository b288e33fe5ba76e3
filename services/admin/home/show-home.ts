/** The event's page. It is answered even when all stores are unavailable. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { Language } from '#shared/contracts/bot.ts'
import type { VersionedStatus } from '#shared/kv/kv.ts'
import { acceptedLanguage } from '#shared/rules/languages.ts'
import { HOME_POLICY, homePage } from './home-page.ts'
import type { CheckInPosition } from './home-locales.ts'
import { statusWithin } from './status-within.ts'

function checkInPositionOf(
  status: VersionedStatus | null,
  startsMs: number | null,
  nowMs: number,
): CheckInPosition {
  if (status === null) return 'unknown'
  return status.status === 'active' && startsMs !== null && nowMs < startsMs ? 'awaited' : status.status
}

/** @param requested the value of the parameter `lang` */
export async function showHome(
  context: ServiceContext,
  request: Request,
  requested: string | undefined,
): Promise<Response> {
  const { config, now } = context
  const status = await statusWithin(context)
  const named = Language.safeParse(requested)
  const language = named.data ?? acceptedLanguage(request.headers.get('accept-language')) ?? 'zh-Hant'
  const standing = checkInPositionOf(status, config.startsMs, now())
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: config.timeZone,
  })
  /** Null when the page has no address of its own, because its setting then defaults to this page. */
  const elsewhere = (url: string): string | null => (url.replace(/\/$/, '') === config.publicUrl ? null : url)
  const page = homePage({
    language,
    name: config.eventName,
    standing,
    message: status?.message ?? null,
    begins: standing === 'awaited' ? format.format(config.startsMs!) : null,
    checkinUrl: elsewhere(config.checkinUrl),
    surveyUrl: elsewhere(config.surveyUrl),
  })
  return new Response(page, {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': language,
      'Content-Security-Policy': HOME_POLICY,
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Language',
    },
  })
}
