/**
 * An endpoint as a value: everything that the router, the proxy, the access table, the API's
 * documentation and the tests need to know about a route stands here once.
 */
import { z } from 'zod'

export const ServiceName = z.enum([
  'tracking',
  'survey-profile',
  'feedback-media',
  'admin',
  'line-bot',
  'scheduler',
])
export type ServiceName = z.infer<typeof ServiceName>

/**
 * Who may call: `public` needs no token, `optional` answers more with one (a bad one is 401),
 * the tiers need at least that tier's token.
 */
export type Access = 'public' | 'optional' | 'volunteer' | 'manager' | 'owner'

/** Limits that the tracking admission applies itself, in the same atomic call that buffers the points. */
export type LimitName = 'checkin' | 'sync' | 'survey' | 'user-write' | 'address-write' | 'admin'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Data extends z.ZodType = z.ZodType,
> {
  readonly method: Method
  /** Path with `:name` parameters, as the router reads it. */
  readonly path: string
  readonly service: ServiceName
  /** One sentence for the documentation. */
  readonly summary: string
  readonly access: Access
  /** The sliding window that a call is charged to; `null`: none. */
  readonly limit: LimitName | null
  /** Status of a success. */
  readonly success: 200 | 202
  /** Whether a success may be 202 instead: it is written down, and goes on after the answer. */
  readonly goesOn: boolean
  /** Where the pilgrim's id stands, when the call is made in a pilgrim's name; `header`: in X-Line-User-Id, or nowhere. */
  readonly caller: 'body' | 'query' | 'header' | 'none'
  /** Whether the end of the event closes it: 403 from then on. */
  readonly closedAtEnd: boolean
  readonly params: Params
  readonly query: Query
  /** JSON body; `raw` bodies are read by the handler itself within the same limit of bytes. */
  readonly body: Body
  readonly bodyKind: 'none' | 'json' | 'raw'
  /** The plain form of a body, checked by hand where that matters; null: ask the contract. */
  quickBody?(given: unknown): z.infer<Body> | null
  /** What the contract names of an answer, picked by hand where that matters. */
  quickData?(data: z.infer<Data>): z.infer<Data>
  /** What stands under `data` of the envelope; for other media types a description. */
  readonly data: Data
  /** Media type of a success that is not the JSON envelope, or a JSON document without envelope. */
  readonly media: string | null
  /** Media types that a client may ask for instead, by `Accept` or a parameter. */
  readonly otherMedia: readonly string[]
  /** Media types whose answers are files to keep: `Content-Disposition: attachment`. */
  readonly downloads: readonly string[]
  /**
   * How long an answer may be kept and given to others, in milliseconds; 0: not at all. The answer must depend on
   * nothing but path, query and the caller's role. It carries an ETag, and 304 is an answer too.
   */
  readonly keepMs: number
  /** Refusals beyond those that follow from the fields above. */
  readonly errors: readonly number[]
  /** Bodies of refusals, by status, that may be more than an error. */
  readonly refusals: Readonly<Record<number, z.ZodType>>
}

/** Data of an answer that its contract has written as JSON by hand: only contracts make one, and name its fields. */
export class Written {
  constructor(readonly json: string) {}
}

type Given<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, D extends z.ZodType> = Pick<
  Endpoint<P, Q, B, D>,
  'method' | 'path' | 'service' | 'summary' | 'data'
> &
  Partial<Endpoint<P, Q, B, D>>

/** No fields; what is there is not looked at. */
export const Nothing = z.object({})
type Nothing = typeof Nothing

/**
 * Declares an endpoint. Defaults: public, 200, no parameters, no query, no body, no limit.
 * @example endpoint({ method: 'GET', path: '/health', service: 'admin', summary: '…', data: Health })
 */
export function endpoint<
  D extends z.ZodType,
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>(given: Given<P, Q, B, D>): Endpoint<P, Q, B, D> {
  return {
    access: 'public',
    limit: given.access === undefined || given.access === 'public' ? null : 'admin',
    success: 200,
    goesOn: false,
    caller: 'none',
    closedAtEnd: false,
    params: Nothing as unknown as P,
    query: Nothing as unknown as Q,
    body: Nothing as unknown as B,
    bodyKind: given.body === undefined ? 'none' : 'json',
    media: null,
    otherMedia: [],
    downloads: [],
    keepMs: 0,
    errors: [],
    refusals: {},
    ...given,
  }
}
