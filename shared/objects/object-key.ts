/** What may name an object, the same for every driver. */

/** A key that no driver takes. A fault of the calling code, not of the store. */
export class InvalidObjectKey extends Error {
  override readonly name = 'InvalidObjectKey'
}

/** So that a segment with its case bits (`disk-name.ts`) stays below the 255 bytes of a file name. */
const MAX_SEGMENT = 160
/** S3 takes 1,024 bytes (Amazon S3 User Guide, "Naming Amazon S3 objects"), its prefix included. */
const MAX_KEY = 512

const isSegment = (segment: string): boolean =>
  /^[A-Za-z0-9_.:@-]+$/.test(segment) && segment !== '.' && segment !== '..' && segment.length <= MAX_SEGMENT

/** Whether a string can name an object: segments of `A-Z a-z 0-9 _ . : @ -`, joined by single slashes. */
export const isObjectKey = (key: string): boolean => key.length <= MAX_KEY && key.split('/').every(isSegment)

/** @throws InvalidObjectKey unless `isObjectKey` */
export function checkKey(key: string): void {
  if (!isObjectKey(key)) throw new InvalidObjectKey(`not an object key: ${JSON.stringify(key)}`)
}

/**
 * A prefix is the beginning of a key: whole segments, and perhaps the beginning of one more.
 * @throws InvalidObjectKey when no key can begin like this
 */
export function checkPrefix(prefix: string): void {
  // With a letter behind it, a cut segment ("", ".", "..") becomes a whole one, and the key's rule fits.
  if (!isObjectKey(`${prefix}x`))
    throw new InvalidObjectKey(`not the prefix of a key: ${JSON.stringify(prefix)}`)
}
