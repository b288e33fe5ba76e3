/** The location of the object store, from `OBJECTS_URL`. */
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObjectKey } from './object-key.ts'

export type ObjectsPlace =
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
