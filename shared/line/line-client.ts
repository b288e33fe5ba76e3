/**
 * LINE's Messaging API as this service uses it: every call bounded in time, every answer sorted into what the
 * caller does next. The SDK itself waits for ever.
 */
import { HTTPFetchError, messagingApi } from '@line/bot-sdk'
import type { Config } from '#shared/config/config.ts'
import { withTimeout } from './with-timeout.ts'
import { createMenus, type Menus } from './rich-menus.ts'
import { describeError } from '#shared/runtime/loggable-error.ts'

export type Message = messagingApi.Message

/** Messaging API reference, "Send multicast message". */
export const MULTICAST_MAX = 500
/** A retry key is remembered for 24 hours ("Retry failed API requests"); an hour is kept as a margin. */
export const RETRY_KEY_MS = 23 * 3_600_000

/** Ids that LINE gives; a call that names any other is refused whole. */
export const isLineUserId = (id: string): boolean => /^U[0-9a-f]{32}$/.test(id)

/** What LINE said of a call that it did not take. */
interface Fault {
  /** LINE's own words, for the ledger; they may quote the message and name its recipients. */
  readonly detail: string
  /** The same for a log: which answer it was, and nothing of what was sent. */
  readonly brief: string
}

/** What became of a message. */
export type Delivery =
  /** Taken, now or by an earlier call with the same retry key. */
  | { readonly outcome: 'accepted'; readonly requestId: string | null }
  /** Never to be taken like this: because of whom it goes to, or of what it says. */
  | ({ readonly outcome: 'refused'; readonly fault: 'recipients' | 'messages' } & Fault)
  | ({ readonly outcome: 'over-quota' } & Fault)
  /** Nobody knows; the same call with the same retry key tells. */
  | ({ readonly outcome: 'later'; readonly retryAfterMs: number | null } & Fault)

export interface Profile {
  readonly displayName: string
  readonly pictureUrl: string | null
  readonly language: string | null
}

/** The month's messages; `limit` null: unlimited. */
export interface Quota {
  readonly limit: number | null
  readonly used: number
}

export interface Line {
  /** Sends the same to at most 500 people. */
  multicast(to: readonly string[], messages: readonly Message[], retryKey: string): Promise<Delivery>
  push(to: string, messages: readonly Message[], retryKey: string): Promise<Delivery>
  /** Answers an event; a token that was used is refused, so a repeated call is harmless. */
  reply(token: string, messages: readonly Message[]): Promise<Delivery>
  /** Rejects when LINE does not tell. */
  profile(userId: string): Promise<Profile>
  /** Rejects when LINE does not tell. */
  quota(): Promise<Quota>
  /** The webhook address that LINE knows. */
  webhookAddress(): Promise<string>
  readonly menus: Menus
}

const SEND_MS = 10_000
/** Somebody waits for an answer, and the next event behind it. */
const ANSWER_MS = 3_000

/** The client, or null without an access token: then nothing is sent. */
export function createLineClient(settings: Config['line']): Line | null {
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
    multicast: (to, messages, retryKey) =>
      delivered(api.multicastWithHttpInfo({ to: [...to], messages: [...messages] }, retryKey), SEND_MS),
    push: (to, messages, retryKey) =>
      delivered(api.pushMessageWithHttpInfo({ to, messages: [...messages] }, retryKey), SEND_MS),
    reply: (replyToken, messages) =>
      delivered(api.replyMessageWithHttpInfo({ replyToken, messages: [...messages] }), ANSWER_MS),
    async profile(userId) {
      const { displayName, pictureUrl, language } = await withTimeout(api.getProfile(userId), ANSWER_MS)
      return { displayName, pictureUrl: pictureUrl ?? null, language: language ?? null }
    },
    async quota() {
      const [quota, { totalUsage }] = await withTimeout(
        Promise.all([api.getMessageQuota(), api.getMessageQuotaConsumption()]),
        SEND_MS,
      )
      return { limit: quota.type === 'limited' ? (quota.value ?? 0) : null, used: totalUsage }
    },
    webhookAddress: async () => (await withTimeout(api.getWebhookEndpoint(), SEND_MS)).endpoint,
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
  const said: Fault = { detail: `${status}: ${body.slice(0, 300)}`, brief: `LINE answered ${status}` }
  if (status === 409) return { outcome: 'accepted', requestId: headers.get('x-line-accepted-request-id') }
  if (status === 400) return { outcome: 'refused', fault: faultOf(body), ...said }
  // The same status says "too fast" and "no more this month"; only the sentence tells which.
  if (status === 429 && /monthly limit/i.test(body)) return { outcome: 'over-quota', ...said }
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN)
  return {
    outcome: 'later',
    ...said,
    retryAfterMs: Number.isFinite(retryAfterS) ? retryAfterS * 1_000 : null,
  }
}

/** LINE names the property at fault where it is one of the messages. */
function faultOf(body: string): 'recipients' | 'messages' {
  return /"property"\s*:\s*"messages/.test(body) ? 'messages' : 'recipients'
}
