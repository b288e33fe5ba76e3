/**
 * The port of the object store, for share cards and screenshots. It has two drivers; `OBJECTS_URL` selects one.
 */
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { LoggableError } from '#shared/runtime/log.ts'

export interface ObjectInfo {
  readonly contentType: string
  /** Opaque, without quotes. It changes only when the bytes change. Each driver computes it differently. */
  readonly etag: string
  /** Time of the last `put`; in whole seconds on S3. */
  readonly modifiedAt: Date
  /** Size in bytes. */
  readonly size: number
}

export interface StoredObject extends ObjectInfo {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Keys are `cards/…` and `screenshots/…`: segments of 1 to 160 characters of `A-Z a-z 0-9 _ . : @ -` (but not `.`
 * or `..`), joined by single slashes, at most 512 characters. Keys are case-sensitive on every file system, so they
 * may contain user ids.
 *
 * Every method rejects with `InvalidObjectKey` for any other key, and with `ObjectsUnavailable` when the store
 * cannot be used. Writes are atomic: readers see the complete object of one `put`, or none.
 */
export interface Objects {
  /**
   * Stores or replaces an object. Resolves when it is durable. Of concurrent puts of a key, one wins completely. After
   * a rejection the object may or may not be stored: put it again, or delete it. The caller must not change the bytes
   * meanwhile.
   * @throws TypeError unless `contentType` is a media type of at most 100 characters
   */
  put(
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    about: { readonly contentType: string },
  ): Promise<{ readonly etag: string }>
  /** Returns the object; `null`: there is none. */
  get(key: string): Promise<StoredObject | null>
  /** Returns the metadata of `get` without reading the bytes. */
  head(key: string): Promise<ObjectInfo | null>
  /** Resolves when the object is durably deleted or was missing. */
  delete(key: string): Promise<void>
  /**
   * Yields every key that begins with `prefix` (`''`: all), once, in no particular order. Keys that are put or deleted
   * meanwhile may be present or absent.
   */
  list(prefix: string): AsyncIterable<string>
  /** Health probe: resolves after a real round trip; otherwise rejects with `ObjectsUnavailable` within 2 s. */
  probe(): Promise<void>
  /** Closes the store; the caller has awaited its own calls. */
  close(): Promise<void>
}

/** Endpoint and credentials of an S3 store. */
export interface S3Settings {
  /** Empty: Amazon's endpoint for the region. */
  readonly endpoint: string
  readonly region: string
  /**
   * Needs permission to read, write and delete objects, and to list the bucket (without it S3 answers 403, not 404).
   */
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Timeout of a call including its retry, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number
}

/** An invalid key: a bug of the caller, not an error of the store. */
export class InvalidObjectKey extends Error {
  override readonly name = 'InvalidObjectKey'
}

/** Keeps a segment with its case bits (`objects.disk.ts`) below 255 bytes, the limit of file names. */
const MAX_SEGMENT = 160
/** S3 allows 1,024 bytes including the prefix (Amazon S3 User Guide, "Naming Amazon S3 objects"). */
const MAX_KEY = 512

const isSegment = (segment: string): boolean =>
  /^[A-Za-z0-9_.:@-]+$/.test(segment) && segment !== '.' && segment !== '..' && segment.length <= MAX_SEGMENT

/** Whether a string is a valid key: segments of `A-Z a-z 0-9 _ . : @ -`, joined by single slashes. */
export const isObjectKey = (key: string): boolean => key.length <= MAX_KEY && key.split('/').every(isSegment)

/** The store cannot be used: it is down, unreachable, full or damaged, or rejects access. Not for a missing object. */
export class ObjectsUnavailable extends LoggableError {
  override readonly name: string = 'ObjectsUnavailable'
}

/** One object cannot be read, because its file is truncated or was modified by another program. The store works. */
export class ObjectDamaged extends ObjectsUnavailable {}

/**
 * Waits for work, at most `ms` milliseconds. Late work is not cancelled.
 * @throws ObjectsUnavailable on timeout
 */
export const withTimeout = <T>(ms: number, what: string, work: Promise<T>): Promise<T> =>
  within(
    work,
    ms,
    rejectWith(() => new ObjectsUnavailable(`${what}: no answer in ${ms} ms`)),
  )
