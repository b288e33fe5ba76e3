/** Chooses the driver of the store of objects. */
import { checkKey, checkPrefix } from './object-key.ts'
import { parseObjectsUrl } from './objects-url.ts'
import { openDiskObjects } from './objects.disk.ts'
import { openS3Objects } from './objects.s3.ts'
import type { Objects, S3Settings } from './objects.ts'

/**
 * Opens the store that a URL names (`parseObjectsUrl`); `s3` matters to S3 only. An S3 server need not be up for it.
 * @throws TypeError for another URL, or S3 without credentials
 * @throws ObjectsUnavailable when the directory cannot be made or read
 */
export async function openObjects(url: string, s3: S3Settings): Promise<Objects> {
  const place = parseObjectsUrl(url)
  return checked(place.driver === 'disk' ? await openDiskObjects(place.directory) : openS3Objects(place, s3))
}

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w.-]+)*$/

/** Refuses bad keys before any driver sees them, so that all drivers refuse the same ones. */
function checked(driver: Objects): Objects {
  return {
    async put(key, bytes, about) {
      checkKey(key)
      if (about.contentType.length > 100 || !MEDIA_TYPE.test(about.contentType)) {
        throw new TypeError(`not a media type: ${JSON.stringify(about.contentType)}`)
      }
      return await driver.put(key, bytes, about)
    },
    async get(key) {
      checkKey(key)
      return await driver.get(key)
    },
    async head(key) {
      checkKey(key)
      return await driver.head(key)
    },
    async delete(key) {
      checkKey(key)
      await driver.delete(key)
    },
    async *list(prefix) {
      checkPrefix(prefix)
      yield* driver.list(prefix)
    },
    probe: () => driver.probe(),
    close: () => driver.close(),
  }
}
