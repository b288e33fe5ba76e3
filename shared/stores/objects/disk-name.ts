/**
 * A one-to-one mapping of keys to file names, for file systems that ignore case (macOS, Windows shares) or do not
 * allow colons.
 *
 * `cards/Uab:c.png` is `cards/1~uab=c.png`: the letters in lower case, and before the mark the positions of
 * the capitals as hexadecimal bits. Every object's own name carries `~`; a directory's carries `^`, and only
 * where it has capitals. So `a` and `a/b` may both exist, and neither mark can stand in a key.
 */

import { isObjectKey } from './object-key.ts'

/** A bit mask of the positions of capitals; the lowest bit is the first character. */
const capitalsOf = (segment: string): bigint => {
  let bits = 0n
  for (let i = 0; i < segment.length; i++) if (/[A-Z]/.test(segment[i]!)) bits |= 1n << BigInt(i)
  return bits
}

const encode = (segment: string, mark: '~' | '^'): string =>
  `${capitalsOf(segment).toString(16)}${mark}${segment.toLowerCase().replaceAll(':', '=')}`

function decode(name: string, mark: '~' | '^'): string | null {
  const at = name.indexOf(mark)
  if (!/^[0-9a-f]{1,40}$/.test(name.slice(0, Math.max(at, 0)))) return null
  const bits = BigInt(`0x${name.slice(0, at)}`)
  const lower = name.slice(at + 1).replaceAll('=', ':')
  const segment = Array.from(lower, (c, i) => ((bits >> BigInt(i)) & 1n ? c.toUpperCase() : c)).join('')
  return isObjectKey(segment) && encode(segment, mark) === name ? segment : null
}

const directoryName = (segment: string): string =>
  /[A-Z]/.test(segment) ? encode(segment, '^') : segment.replaceAll(':', '=')

/** Path of a key's file, relative to the store's directory. */
export function pathOfKey(key: string): string {
  const segments = key.split('/')
  return [...segments.slice(0, -1).map(directoryName), encode(segments.at(-1)!, '~')].join('/')
}

/** Last segment of a file's key; `null`: not the file of an object. */
export const segmentOfFile = (name: string): string | null => decode(name, '~')

/** Path of the directory of all keys that begin with these whole segments. */
export const pathOfDirectory = (segments: readonly string[]): string => segments.map(directoryName).join('/')

/** Key segment of a directory; `null`: not a directory of this store. */
export function segmentOfDirectory(name: string): string | null {
  if (name.includes('^')) return decode(name, '^')
  const segment = name.replaceAll('=', ':')
  return isObjectKey(segment) && directoryName(segment) === name ? segment : null
}
