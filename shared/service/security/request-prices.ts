/**
 * The maximum cost of a public write, by endpoint id. An address is charged before the body is parsed, whatever the
 * answer is. `bun run prices` prints the table; `tests/security/request-prices.long.test.ts` measures it.
 */
import type { Endpoint, ServiceName } from '#shared/contracts/endpoint.ts'
import type { Window } from '#shared/runtime/config/config.ts'
import { type AddressLimit, createAddressLimit } from './caller-and-address-limits.ts'

export interface Price {
  /** Milliseconds of a processor per call, and per 10 kB of its body: Caddy, service, Redis and Postgres. */
  readonly ms: number
  readonly msPer10kB: number
  /** Bytes that all stores keep per call, per byte of its body, and per point. */
  readonly kept: number
  readonly keptPerByte: number
  readonly keptPerPoint: number
}

const price = (
  ms: number,
  msPer10kB: number,
  { kept = 0, perByte = 0, perPoint = 0 }: { kept?: number; perByte?: number; perPoint?: number } = {},
): Price => ({ ms, msPer10kB, kept, keptPerByte: perByte, keptPerPoint: perPoint })

/** A pending point takes about 90 bytes in Redis, a stored one 200 in Postgres. */
const POINT_BYTES = 300
/** A new pilgrim: a row, and a place on the live map. */
const PILGRIM_BYTES = 1_000

const points = price(1, 7, { kept: PILGRIM_BYTES, perPoint: POINT_BYTES })
/** An app's points are charged by the bytes of the body: the shortest has about 120. */
const ingest = price(1, 5, { kept: 100, perByte: POINT_BYTES / 120 })
const query = price(1, 0, { kept: 100 + POINT_BYTES })
const words = price(2, 6, { kept: PILGRIM_BYTES, perByte: 1 })
const read = price(1, 1)
const survey = price(2, 20, { kept: PILGRIM_BYTES, perByte: 2.2, perPoint: POINT_BYTES })
const row = price(2, 2, { kept: PILGRIM_BYTES })

export const PRICES: Readonly<Record<string, Price>> = {
  checkIn: points,
  syncTrack: points,
  ingestOwntracks: ingest,
  ingestOverland: ingest,
  ingestTraccar: ingest,
  ingestOsmandPosted: ingest,
  ingestGpslogger: ingest,
  ingestOwntracksQuery: query,
  ingestOverlandQuery: query,
  ingestTraccarQuery: query,
  ingestOsmand: query,
  ingestGpsloggerQuery: query,
  submitSurvey: survey,
  submitSurveyAlias: survey,
  syncProfile: words,
  setPhone: words,
  setPrivacy: row,
  setParticipantStatus: row,
  submitFeedback: price(2, 4, { kept: 500, perByte: 2 }),
  uploadScreenshot: price(2, 4),
  // Five QR codes.
  createTracker: price(12, 1, { kept: PILGRIM_BYTES }),
  createShare: row,
  changeShare: row,
  subscribeToPush: row,
  raiseEmergency: row,
}

/** Calls without their own price store nothing: reads and deletions. */
export const priceOfCall = ({ id }: Pick<Endpoint, 'id'>): Price =>
  Object.hasOwn(PRICES, id) ? PRICES[id]! : read

/** Drawing a card, and storing it. */
export const DRAWING = { ms: 100, bytes: 120_000 } as const

/** Milliseconds per 10 kB that are received and cut (`SentBody`). */
const CUT_MS_PER_10KB = 0.1

/** In units of the address limit, milliseconds of a processor. */
export const priceInMs = ({ ms, msPer10kB }: Price, bodyBytes: number, cutBytes = 0): number =>
  Math.round(ms + (msPer10kB * bodyBytes + CUT_MS_PER_10KB * cutBytes) / 10_000)

const POINT_LISTS = ['points', 'track_points', 'gps_points'] as const

/** @param body after validation */
export function keptBytes(
  { kept, keptPerByte, keptPerPoint }: Price,
  bodyBytes: number,
  body: unknown,
): number {
  const lists = body as Partial<Record<(typeof POINT_LISTS)[number], unknown>>
  const points = POINT_LISTS.reduce((sum, name) => {
    const list = lists[name]
    return sum + (Array.isArray(list) ? list.length : 0)
  }, 0)
  return Math.ceil(kept + keptPerByte * bodyBytes + keptPerPoint * points)
}

/**
 * Parts of an address's budget (`EVENT_LIMIT_ADDRESS`) for its writes to each service, and for its reads there that are
 * not answered from a cache. They add up to one, so that all services together give an address the whole budget,
 * although no service knows of the others.
 */
export const SHARES: Readonly<
  Partial<Record<ServiceName, { readonly writes: number; readonly reads: number }>>
> = {
  // After a day in a dead zone a tracker app sends its 2,880 points at once.
  tracking: { writes: 0.5, reads: 0.03 },
  'survey-profile': { writes: 0.1, reads: 0.16 },
  'feedback-media': { writes: 0.1, reads: 0.05 },
  admin: { writes: 0.02, reads: 0.02 },
  'line-bot': { writes: 0.02, reads: 0 },
}

/** Process names omit the hyphen of a service. */
const plain = (service: string): string => service.replace('-', '')

/**
 * The limits of an address in a service.
 * @param service with or without its hyphen; any other name gets the whole limit
 */
export function createServiceLimits(window: Window, service: string) {
  const share = Object.entries(SHARES).find(([name]) => plain(name) === plain(service))
  const { writes, reads } = share?.[1] ?? { writes: 1, reads: 1 }
  const limitOf = (share: number) =>
    createAddressLimit({ ...window, max: Math.max(1, Math.round(share * window.max)) })
  return { addresses: limitOf(writes), reads: limitOf(reads) }
}

/** Bytes per hour that an address may have each service store, 50 MB in all; other services store nothing for it. */
export const KEPT_AN_HOUR: Readonly<Partial<Record<ServiceName, number>>> = {
  tracking: 25_000_000,
  'survey-profile': 4_000_000,
  'feedback-media': 20_000_000,
  'line-bot': 1_000_000,
}
const HOUR_MS = 3_600_000
/** Resolution of the window. */
const STEP_MS = 1_000
/** Default rate of `EVENT_LIMIT_ADDRESS`. A higher one, for a larger crowd behind one address, raises the bytes too. */
const USUAL_CALLS_PER_MS = 6_000 / 60_000

export interface KeptLimit {
  /** @throws Refusal 429 for an address that has stored too much in a service */
  charge(service: ServiceName, address: string, bytes: number): void
}

export function createKeptLimit({ max, windowMs }: Window, clock?: () => number): KeptLimit {
  const scale = Math.max(1, max / windowMs / USUAL_CALLS_PER_MS)
  const limits = new Map<ServiceName, AddressLimit>()
  for (const [service, bytes] of Object.entries(KEPT_AN_HOUR) as [ServiceName, number][])
    limits.set(service, createAddressLimit({ max: bytes * scale, windowMs: HOUR_MS }, clock, STEP_MS))
  return {
    charge(service, address, bytes) {
      if (bytes > 0) limits.get(service)?.charge(address, bytes)
    },
  }
}
