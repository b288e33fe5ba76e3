/** Shortens the long strings of JSON while it arrives, so that a picture in it takes no memory. */

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const UNICODE_ESCAPE = 'u'.charCodeAt(0)
/** The rest of a longer string is cut. Texts and numbers of trackers are far shorter. */
const STRING_BYTES = 4_096

/** Whether a byte continues a character of several bytes (UTF-8). */
const continues = (byte: number): boolean => (byte & 0xc0) === 0x80

/**
 * @returns a function that receives JSON (UTF-8) part by part, and returns each part with strings cut to 4,096 bytes.
 *   Valid JSON stays valid. It reuses the memory of the part
 */
export function createStringShortener(): (part: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> {
  let isInString = false
  let isCut = false
  let length = 0
  /** Remaining bytes of an escape sequence. */
  let escaped = 0
  /** Whether the next byte is the kind of an escape sequence. */
  let isKind = false

  /** @returns the end of the string being cut: its quote, or the end of the part */
  function skipString(part: Uint8Array, from: number): number {
    for (let start = from; ;) {
      const quote = part.indexOf(QUOTE, start)
      const end = quote < 0 ? part.length : quote
      let backslashes = 0
      while (end - backslashes > start && part[end - backslashes - 1] === BACKSLASH) backslashes++
      // The last byte of the previous part may have been a backslash.
      const isOdd = (backslashes + (end - backslashes === start ? escaped : 0)) % 2 === 1
      escaped = quote < 0 && isOdd ? 1 : 0
      if (quote < 0 || !isOdd) return end
      start = quote + 1
    }
  }

  function follow(byte: number): void {
    length++
    if (escaped > 0) {
      escaped = isKind && byte === UNICODE_ESCAPE ? 4 : escaped - 1
      isKind = false
    } else if (byte === QUOTE) isInString = false
    else if (byte === BACKSLASH) [escaped, isKind] = [1, true]
  }

  const mayCutBefore = (byte: number): boolean =>
    isInString && length >= STRING_BYTES && escaped === 0 && byte !== QUOTE && !continues(byte)

  return (part) => {
    let kept = 0
    for (let at = 0; at < part.length; at++) {
      if (isCut || mayCutBefore(part[at]!)) at = skipString(part, at)
      // The string continues in the next part.
      isCut = at === part.length
      if (isCut) break
      const byte = part[at]!
      if (isInString) follow(byte)
      else if (byte === QUOTE) [isInString, length] = [true, 0]
      part[kept++] = byte
    }
    return part.subarray(0, kept)
  }
}
