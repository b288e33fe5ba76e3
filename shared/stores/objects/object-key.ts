/** Valid object keys, the same for every driver. */

/** An invalid key: a bug of the caller, not an error of the store. */
export class InvalidObjectKey extends Error {
  override readonly name = 'InvalidObjectKey'
}

/** Keeps a segment with its case bits (`disk-name.ts`) below 255 bytes, the limit of file names. */
const MAX_SEGMENT = 160
/** S3 allows 1,024 bytes including the prefix (Amazon S3 User Guide, "Naming Amazon S3 objects"). */
const MAX_KEY = 512

const isSegment = (segment: string): boolean =>
  /^[A-Za-z0-9_.:@-]+$/.test(segment) && segment !== '.' && segment !== '..' && segment.length <= MAX_SEGMENT

/** Whether a string is a valid key: segments of `A-Z a-z 0-9 _ . : @ -`, joined by single slashes. */
export const isObjectKey = (key: string): boolean => key.length <= MAX_KEY && key.split('/').every(isSegment)

/** @throws InvalidObjectKey unless `isObjectKey` */
export function checkKey(key: string): void {
  if (!isObjectKey(key)) throw new InvalidObjectKey(`not an object key: ${JSON.stringify(key)}`)
}

/**
 * Checks a prefix: whole segments, optionally followed by the beginning of one more.
 * @throws InvalidObjectKey if no key can begin with it
 */
export function checkPrefix(prefix: string): void {
  // An appended letter completes a partial segment ("", ".", ".."), so that the rule for keys applies.
  if (!isObjectKey(`${prefix}x`))
    throw new InvalidObjectKey(`not the prefix of a key: ${JSON.stringify(prefix)}`)
}
