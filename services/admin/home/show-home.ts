/** The event's page for whoever follows a link: it is answered whatever is away. */
import type { ServiceContext } from '#shared/runtime/context.ts'
import { Language } from '#shared/contracts/bot.ts'
import type { VersionedStatus } from '#shared/kv/kv.ts'
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { acceptedLanguage } from '#shared/rules/languages.ts'
import { within } from '#shared/runtime/deadline.ts'
import { HOME_POLICY, homePage } from './home-page.ts'
import type { Standing } from './home-locales.ts'

/** A page without the status is better than none. */
const TIMEOUT_MS = 2_000

/** From the kv, or from the database where that has none; null where neither tells in time. */
async function statusNow({ kv, db }: ServiceContext): Promise<VersionedStatus | null> {
  const told = (ask: Promise<VersionedStatus | null>) =>
    within(
      ask.catch(() => null),
      TIMEOUT_MS,
      () => null,
    )
  return (await told(kv.status())) ?? (await told(readStatus(db)))
}

function standingOf(status: VersionedStatus | null, startsMs: number | null, nowMs: number): Standing {
  if (status === null) return 'unknown'
  return status.status === 'active' && startsMs !== null && nowMs < startsMs ? 'awaited' : status.status
}

/** @param asked the language as a parameter names it */
export async function showHome(
  context: ServiceContext,
  request: Request,
  asked: string | undefined,
): Promise<Response> {
  const { config, now } = context
  const status = await statusNow(context)
  const named = Language.safeParse(asked)
  const language = named.data ?? acceptedLanguage(request.headers.get('accept-language')) ?? 'zh-Hant'
  const standing = standingOf(status, config.startsMs, now())
  const format = new Intl.DateTimeFormat(language, {
    dateStyle: 'long',
    timeStyle: 'short',
    timeZone: config.timeZone,
  })
  /** Where a page has no address, links lead here. */
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
