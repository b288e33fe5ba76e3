/**
 * A client of LINE's Messaging API. Every call has a timeout, which the SDK lacks, and every answer is classified by
 * the caller's next step.
 */
import { HTTPFetchError, messagingApi } from '@line/bot-sdk'
import { webhookEndpoint } from '#shared/contracts/bot.ts'
import { cutText } from '#shared/contracts/fields.ts'
import type { Cause } from '#shared/contracts/messages.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import { describeError, LoggableError } from '#shared/runtime/log.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

export type Message = messagingApi.Message

/** Messaging API reference, "Send multicast message". */
export const MULTICAST_MAX = 500
/** LINE stores a retry key for 24 hours ("Retry failed API requests"); one hour is a safety margin. */
export const RETRY_KEY_MS = 23 * 3_600_000

/**
 * How long the ids of webhook events are stored: longer than LINE redelivers an event. Older events are not accepted,
 * because their ids may have been deleted.
 */
export const DEDUPLICATION_WINDOW_MS = 30 * 86_400_000

/** The form of LINE's user ids; LINE refuses a whole call if it contains any other id. */
export const isLineUserId = (id: string): boolean => /^U[0-9a-f]{32}$/.test(id)

interface Fault {
  /** LINE's error text, for the message ledger; it may quote the message and name recipients. */
  readonly detail: string
  /** A short form for the log, without any sent content. */
  readonly brief: string
}

export type Delivery =
  /** Accepted, now or by an earlier call with the same retry key. */
  | { readonly outcome: 'accepted'; readonly requestId: string | null }
  /** Refused permanently, because of its recipients or its content. */
  | ({ readonly outcome: 'refused'; readonly fault: 'recipients' | 'messages' } & Fault)
  | ({ readonly outcome: 'over-quota' } & Fault)
  /** Unknown; repeating the call with the same retry key resolves it. */
  | ({ readonly outcome: 'later'; readonly retryAfterMs: number | null } & Fault)

export interface Profile {
  readonly displayName: string
  readonly pictureUrl: string | null
  readonly language: string | null
}

/** The monthly message quota; `limit` null: unlimited. */
export interface Quota {
  readonly limit: number | null
  readonly used: number
}

export type Line = NonNullable<ReturnType<typeof createLineClient>>

const SEND_MS = 10_000
/** Timeout of replies: the pilgrim and the next webhook events wait for them. */
const ANSWER_MS = 3_000

/** Creates the client; null without an access token, so that nothing is sent. */
export function createLineClient(settings: Config['line']) {
  const { accessToken: channelAccessToken, apiBaseUrl, dataApiBaseUrl } = settings
  if (channelAccessToken === '') return null
  const api = new messagingApi.MessagingApiClient({
    channelAccessToken,
    ...(apiBaseUrl === '' ? {} : { baseURL: apiBaseUrl }),
  })
  const blobs = new messagingApi.MessagingApiBlobClient({
    channelAccessToken,
    ...(dataApiBaseUrl === '' ? {} : { baseURL: dataApiBaseUrl }),
  })
  return {
    multicast: (to: readonly string[], messages: readonly Message[], retryKey: string): Promise<Delivery> =>
      delivered(api.multicastWithHttpInfo({ to: [...to], messages: [...messages] }, retryKey), SEND_MS),
    push: (to: string, messages: readonly Message[], retryKey: string): Promise<Delivery> =>
      delivered(api.pushMessageWithHttpInfo({ to, messages: [...messages] }, retryKey), SEND_MS),
    /** Replies to a webhook event. LINE refuses a used reply token, so a repeated call is harmless. */
    reply: (replyToken: string, messages: readonly Message[]): Promise<Delivery> =>
      delivered(api.replyMessageWithHttpInfo({ replyToken, messages: [...messages] }), ANSWER_MS),
    /** Rejects if LINE does not return it, as do the calls below. */
    async profile(userId: string): Promise<Profile> {
      const { displayName, pictureUrl, language } = await withTimeout(api.getProfile(userId), ANSWER_MS)
      return { displayName, pictureUrl: pictureUrl ?? null, language: language ?? null }
    },
    async quota(): Promise<Quota> {
      const [quota, { totalUsage }] = await withTimeout(
        Promise.all([api.getMessageQuota(), api.getMessageQuotaConsumption()]),
        SEND_MS,
      )
      return { limit: quota.type === 'limited' ? (quota.value ?? 0) : null, used: totalUsage }
    },
    /** The webhook URL configured at LINE. */
    webhookAddress: async (): Promise<string> =>
      (await withTimeout(api.getWebhookEndpoint(), SEND_MS)).endpoint,
    menus: createMenus(api, blobs),
  }
}

async function delivered(call: Promise<{ readonly httpResponse: Response }>, ms: number): Promise<Delivery> {
  try {
    const { httpResponse } = await withTimeout(call, ms)
    return { outcome: 'accepted', requestId: httpResponse.headers.get('x-line-request-id') }
  } catch (error) {
    if (error instanceof HTTPFetchError) return sorted(error)
    const brief = describeError(error)
    return { outcome: 'later', detail: brief, brief, retryAfterMs: null }
  }
}

function sorted({ status, headers, body }: HTTPFetchError): Delivery {
  const answerFault: Fault = { detail: `${status}: ${body.slice(0, 300)}`, brief: `LINE answered ${status}` }
  if (status === 409) return { outcome: 'accepted', requestId: headers.get('x-line-accepted-request-id') }
  if (status === 400) return { outcome: 'refused', fault: faultOf(body), ...answerFault }
  // The same status means "too fast" and "monthly limit reached"; only the message differs.
  if (status === 429 && /monthly limit/i.test(body)) return { outcome: 'over-quota', ...answerFault }
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    outcome: 'later',
    ...answerFault,
    retryAfterMs: Number.isFinite(retryAfterS) ? retryAfterS * 1_000 : null,
  }
}

/** LINE's error names the property if one of the messages is invalid. */
function faultOf(body: string): 'recipients' | 'messages' {
  return /"property"\s*:\s*"messages/.test(body) ? 'messages' : 'recipients'
}

/** Maximum number of users per call of "Link rich menu to multiple users". */
const LINK_MAX = 500
const MENU_MS = 20_000

/** Every method rejects if LINE refuses or does not answer. */
function createMenus(api: messagingApi.MessagingApiClient, blobs: messagingApi.MessagingApiBlobClient) {
  return {
    async create(menu: messagingApi.RichMenuRequest, png: Uint8Array<ArrayBuffer>): Promise<string> {
      const { richMenuId } = await withTimeout(api.createRichMenu(menu), MENU_MS)
      await withTimeout(blobs.setRichMenuImage(richMenuId, new Blob([png], { type: 'image/png' })), MENU_MS)
      return richMenuId
    },
    list: async () => (await withTimeout(api.getRichMenuList(), MENU_MS)).richmenus,
    /** Sets the menu of users without their own one. */
    async setDefault(menuId: string): Promise<void> {
      await withTimeout(api.setDefaultRichMenu(menuId), MENU_MS)
    },
    async link(menuId: string, userIds: readonly string[]): Promise<void> {
      for (let from = 0; from < userIds.length; from += LINK_MAX) {
        const some = userIds.slice(from, from + LINK_MAX)
        await withTimeout(api.linkRichMenuIdToUsers({ richMenuId: menuId, userIds: some }), MENU_MS)
      }
    },
    async remove(menuId: string): Promise<void> {
      await withTimeout(api.deleteRichMenu(menuId), MENU_MS)
    },
  }
}

/** LINE did not answer in time; it is unknown whether the call took effect. */
class LineTimeout extends LoggableError {
  override name = 'LineTimeout'
}

const withTimeout = <T>(call: Promise<T>, ms: number): Promise<T> =>
  within(
    call,
    ms,
    rejectWith(() => new LineTimeout(`LINE did not answer within ${ms} ms`)),
  )

export const ownWebhookAddress = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  `${publicUrl}${webhookEndpoint.path}`

const TEXT_MAX = 200

/**
 * The text of a message for lists: the text itself, or the alternative text of a card. Null for an emergency, whose text
 * names the pilgrim.
 * @param body the stored messages of one push; null for a picture without text
 */
export function textOfMessage(cause: Cause, body: readonly unknown[] | null): string | null {
  if (cause === 'emergency') return null
  for (const message of body ?? []) {
    const { text, altText } = message as { readonly text?: unknown; readonly altText?: unknown }
    const found = typeof text === 'string' ? text : typeof altText === 'string' ? altText : null
    if (found !== null) return cutText(found, TEXT_MAX)
  }
  return null
}
