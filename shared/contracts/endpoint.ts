/**
 * The declaration of an endpoint: everything that router, proxy, access table, documentation and tests need to know
 * about a route.
 */
import { z } from 'zod'
import type { ErrorCode, STATUS_OF_CODE } from './errors.ts'

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
 * Who may call. `public` needs no token. `optional` returns more with a token; an invalid token gets 401.
 * A tier needs a token of that tier or a higher one.
 */
export type Access = 'public' | 'optional' | 'volunteer' | 'manager' | 'owner'

/** Names of rate limits. Admission applies those of tracking in the atomic call that buffers the points. */
export type LimitName = 'checkin' | 'sync' | 'ingest' | 'survey' | 'user-write' | 'address-write' | 'admin'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Data extends z.ZodType = z.ZodType,
  Tier extends Access = Access,
> {
  /** The operation's name in the documentation and in clients: a verb and its object, in camelCase. */
  readonly id: string
  readonly method: Method
  /** Path with `:name` parameters. */
  readonly path: string
  readonly service: ServiceName
  readonly summary: string
  readonly access: Tier
  /** The rate limit (sliding window) that counts a call; `null`: none. */
  readonly limit: LimitName | null
  readonly success: 200 | 202
  /** Whether a success may be 202 instead: the work is recorded and continues after the answer. */
  readonly mayContinue: boolean
  /** Where a pilgrim's call contains the user id; `header`: optionally in X-Line-User-Id. */
  readonly caller: 'body' | 'query' | 'header' | 'none'
  /** Whether a public answer shows more to the pilgrim's own ID token. */
  readonly readsIdentity: boolean
  /** Whether it answers 403 once the event has ended; `new`: the handler does, but answers a repetition. */
  readonly closedAtEnd: boolean | 'new'
  readonly params: Params
  readonly query: Query
  /** JSON body. The handler reads a `raw` body itself, within the same size limit. */
  readonly body: Body
  readonly bodyKind: 'none' | 'json' | 'raw'
  /**
   * The body by media type as documented, where validation accepts more (each point by itself) or the handler reads it;
   * null: bytes. Empty: `body` as JSON.
   */
  readonly sent: Readonly<Record<string, z.ZodType | null>>
  /** Maximum size of the body; null: that of the configuration. The proxy has the same limits. */
  readonly bodyBytes: number | null
  /**
   * Maximum size as sent, if more than `bodyBytes`: the long strings of such a body are cut while it arrives, because
   * nothing in them is read. The proxy has the same limits.
   */
  readonly sentBytes: number | null
  /**
   * Whether errors that a client may retry later (`TEMPORARY_CODES`) are answered with 503 and `Retry-After`: tracker
   * apps delete a point when the answer is 4xx.
   */
  readonly temporaryIs503: boolean
  /**
   * Whether a request may be an SOS press. It is accepted beyond the limits of its address, within a separate bound
   * (`ALARM_LIMIT`).
   * @param query of the URL, as it was sent
   */
  isAlarm(query: string, body: Uint8Array): boolean
  /** Whether a trailing slash of the path is ignored, because people type the address. */
  readonly slash: boolean
  /** Fast validation of the common form of a body, where speed matters; null: validate with the schema. */
  fastBody?(given: unknown): z.infer<Body> | null
  /** Fast selection of the declared fields of an answer, where speed matters. */
  fastData?(data: z.infer<Data>): z.infer<Data>
  /** Content of `data` in the envelope; for other media types a description. */
  readonly data: Data
  /** Media type of a success without the JSON envelope; null: JSON in the envelope. */
  readonly media: string | null
  /** Other media types that a client may request, by `Accept` or a parameter. */
  readonly otherMedia: readonly string[]
  /** Media types that are downloaded as files: `Content-Disposition: attachment`. */
  readonly downloads: readonly string[]
  /**
   * How long the response cache may reuse an answer, in milliseconds; 0: not at all. The answer must depend only on
   * path, query and the caller's role. It carries an ETag, and a matching request gets 304.
   */
  readonly cacheMs: number
  /**
   * Whether the answer sets its own ETag, and a matching request gets 304. Pictures and cached answers always have one.
   */
  readonly tagged: boolean
  /** Error codes beyond those that follow from the fields above; a status means its first code. */
  readonly errors: readonly (ErrorCode | (typeof STATUS_OF_CODE)[ErrorCode])[]
  /** Request headers used only by this endpoint, with their descriptions. */
  readonly headers: Readonly<Record<string, string>>
  /** Status codes of errors that are answered with a page, where a success is a page. */
  readonly errorPages: readonly number[]
  /**
   * The documentation's example, beyond the examples of the fields. Its objects need only the fields that differ; the
   * answer of a stream is its text.
   */
  readonly example: {
    readonly params?: Readonly<Record<string, string | number>>
    readonly query?: Readonly<Record<string, string | number>>
    readonly body?: unknown
    readonly answer?: unknown
  }
  /** Schemas of error bodies that differ from `ErrorBody`, by status. */
  readonly refusals: Readonly<Record<number, z.ZodType>>
}

/**
 * Whether a call acts in a pilgrim's name, so that their identity is verified. Public reads about a pilgrim (named in
 * the query, and without a limit) need none.
 */
export const actsForPilgrim = ({ access, caller, limit }: Endpoint): boolean =>
  access === 'public' && caller !== 'none' && (caller !== 'query' || limit !== null)

/** Answer data that is already serialized as JSON. Only contracts create it, and they declare its fields. */
export class Written {
  constructor(readonly json: string) {}
}

type Given<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, D extends z.ZodType> = Pick<
  Endpoint<P, Q, B, D>,
  'id' | 'summary' | 'data'
> &
  Partial<Endpoint<P, Q, B, D>>

/** No declared fields; any fields are ignored. */
export const Nothing = z.object({})
type Nothing = typeof Nothing

/**
 * The declaration of a service's endpoints. Defaults: public, 200, no parameters, no query, no body, no limit.
 * @example endpointsOf('admin')('GET /health', { id: 'readHealth', summary: '…', data: Health })
 */
export const endpointsOf = (service: ServiceName) =>
  function endpoint<
    D extends z.ZodType,
    P extends z.ZodType = Nothing,
    Q extends z.ZodType = Nothing,
    B extends z.ZodType = Nothing,
    A extends Access = 'public',
  >(
    route: `${Method} /${string}`,
    given: Given<P, Q, B, D> & { readonly access?: A },
  ): Endpoint<P, Q, B, D, A> {
    const [method, path] = route.split(' ') as [Method, string]
    const declared: Endpoint<P, Q, B, D> = {
      service,
      method,
      path,
      access: 'public',
      limit: given.access === undefined || given.access === 'public' ? null : 'admin',
      success: 200,
      mayContinue: false,
      caller: 'none',
      readsIdentity: false,
      closedAtEnd: false,
      params: Nothing as unknown as P,
      query: Nothing as unknown as Q,
      body: Nothing as unknown as B,
      bodyKind: given.body === undefined ? 'none' : 'json',
      bodyBytes: null,
      sentBytes: null,
      isAlarm: () => false,
      temporaryIs503: false,
      slash: false,
      media: null,
      otherMedia: [],
      downloads: [],
      cacheMs: 0,
      tagged: false,
      errors: [],
      headers: {},
      sent: {},
      errorPages: [],
      refusals: {},
      example: {},
      ...given,
    }
    return declared as Endpoint<P, Q, B, D, A>
  }
