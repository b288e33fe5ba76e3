/**
 * The store of whole binary objects: share cards and screenshots.
 *
 * One port, two drivers, chosen by the URL in the configuration. The caller never asks which it is.
 */
export { InvalidObjectKey, isObjectKey } from './object-key.ts'
export { ObjectsUnavailable } from './unavailable.ts'

export interface ObjectInfo {
  readonly contentType: string
  /** Opaque, without quotes. Equal bytes keep it, other bytes change it; drivers compute it differently. */
  readonly etag: string
  /** When the last `put` of the key was stored; whole seconds on S3. */
  readonly modifiedAt: Date
  /** Bytes. */
  readonly size: number
}

export interface StoredObject extends ObjectInfo {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/**
 * Keys are `cards/…` and `screenshots/…`: segments of 1 to 160 characters of `A-Z a-z 0-9 _ . : @ -` (but not `.`
 * or `..`), joined by single slashes, at most 512 characters. Capitals count, on every file system: a pilgrim's id
 * may stand in a key as it is.
 *
 * Every method rejects with `InvalidObjectKey` for another key, and with `ObjectsUnavailable` when the store
 * cannot be used. Nothing is ever half: readers see an object whole as one `put` gave it, or not at all.
 */
export interface Objects {
  /**
   * Stores an object, in place of an earlier one. Resolves when it survives a power cut; of concurrent puts of
   * one key one wins whole. A rejection leaves open whether it was stored: put again, or delete.
   * The caller does not change the bytes meanwhile.
   * @throws TypeError unless `contentType` is a media type of at most 100 characters
   */
  put(
    key: string,
    bytes: Uint8Array<ArrayBuffer>,
    about: { readonly contentType: string },
  ): Promise<{ readonly etag: string }>
  /** The object; `null`: there is none. */
  get(key: string): Promise<StoredObject | null>
  /** What `get` says beside the bytes, without reading them. */
  head(key: string): Promise<ObjectInfo | null>
  /** Resolves when the object is gone for good, or never was. */
  delete(key: string): Promise<void>
  /**
   * Every key that begins with `prefix` (`''`: all), in no order, each once. Keys put or deleted while it runs may
   * be missing or present.
   */
  list(prefix: string): AsyncIterable<string>
  /** Resolves after a real round trip; rejects with `ObjectsUnavailable` within 2 s otherwise. For `/health`. */
  probe(): Promise<void>
  /** The end of the store's use, after the caller has awaited its own calls. */
  close(): Promise<void>
}

/** Where an S3 store is and who asks. */
export interface S3Settings {
  /** `''`: Amazon's for the region. */
  readonly endpoint: string
  readonly region: string
  /** May read, write and delete objects, and list the bucket (or else a missing object reads as refused). */
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Bound of one call, its repetition included, in milliseconds. Default: 10,000. */
  readonly timeoutMs?: number
}
