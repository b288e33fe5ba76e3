/** Opens the object store with the driver that the URL selects. */
import { openDiskObjects } from './objects.disk.ts'
import { openS3Objects } from './objects.s3.ts'
import { InvalidObjectKey, isObjectKey, type Objects, type S3Settings } from './objects.ts'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Opens the store at a URL (`parseObjectsUrl`). Only S3 uses `s3`; its server need not be up yet.
 * @throws TypeError for an invalid URL, or for S3 without credentials
 * @throws ObjectsUnavailable if the directory cannot be created or read
 */
export async function openObjects(url: string, s3: S3Settings): Promise<Objects> {
  const place = parseObjectsUrl(url)
  return checked(place.driver === 'disk' ? await openDiskObjects(place.directory) : openS3Objects(place, s3))
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/

/** Validates keys before the driver, so that all drivers reject the same keys. */
function checked(driver: Objects): Objects {
  return {
    ...driver,
    async put(key, bytes, about) {
      checkedKey(key)
      if (about.contentType.length > 100 || !MEDIA_TYPE.test(about.contentType)) {
        throw new TypeError(`not a media type: ${JSON.stringify(about.contentType)}`)
      }
      return await driver.put(key, bytes, about)
    },
    get: async (key) => driver.get(checkedKey(key)),
    head: async (key) => driver.head(checkedKey(key)),
    delete: async (key) => driver.delete(checkedKey(key)),
    async *list(prefix) {
      checkPrefix(prefix)
      yield* driver.list(prefix)
    },
  }
}

/** @throws InvalidObjectKey unless `isObjectKey` */
function checkedKey(key: string): string {
  if (!isObjectKey(key)) throw new InvalidObjectKey(`not an object key: ${JSON.stringify(key)}`)
  return key
}

/**
 * Checks a prefix: whole segments, optionally followed by the beginning of one more.
 * @throws InvalidObjectKey if no key can begin with it
 */
function checkPrefix(prefix: string): void {
  // An appended letter completes a partial segment ("", ".", ".."), so that the rule for keys applies.
  if (!isObjectKey(`${prefix}x`))
    throw new InvalidObjectKey(`not the prefix of a key: ${JSON.stringify(prefix)}`)
}

// The location of the object store, from `OBJECTS_URL`.

type ObjectsPlace =
  | { readonly driver: 'disk'; readonly directory: string }
  | { readonly driver: 's3'; readonly bucket: string; readonly prefix: string }

/**
 * Parses `OBJECTS_URL`: `file:/absolute/directory`, `file:./relative/to/the/working/directory`, `s3://bucket` or
 * `s3://bucket/prefix`.
 * @throws TypeError with the expected forms
 */
export function parseObjectsUrl(url: string): ObjectsPlace {
  if (url.startsWith('file://')) return { driver: 'disk', directory: resolve(fileURLToPath(url)) }
  if (url.startsWith('file:') && url.length > 5) return { driver: 'disk', directory: resolve(url.slice(5)) }
  const s3 = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*?))?\/?$/.exec(url)
  const prefix = s3?.[2] ?? ''
  if (s3 !== null && prefix.length <= 256 && (prefix === '' || isObjectKey(prefix))) {
    return { driver: 's3', bucket: s3[1]!, prefix: prefix === '' ? '' : `${prefix}/` }
  }
  throw new TypeError(
    `OBJECTS_URL must be file:<directory>, s3://bucket or s3://bucket/prefix, not ${JSON.stringify(url)}`,
  )
}
