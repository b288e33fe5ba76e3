/** Shortens the long strings of JSON while it arrives, so that a picture within it takes no memory. */

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const UNICODE_ESCAPE = 'u'.charCodeAt(0)
/** Beyond this many bytes the rest of a string is left out. Texts and numbers of trackers are far shorter. */
const STRING_BYTES = 4_096

/** Whether a byte continues a character of several bytes (UTF-8). */
const continues = (byte: number): boolean => (byte & 0xc0) === 0x80

/**
 * @returns a function that takes the JSON (UTF-8) part by part, and returns each part without the ends of strings of
 * more than 4,096 bytes. What was valid JSON stays valid. It reuses the memory of the part
 */
export function createStringShortener(): (part: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> {
  let isInString = false
  let isCut = false
  let length = 0
  /** Bytes of an escape sequence that are still to come. */
  let escaped = 0
  /** Whether the next byte tells the kind of an escape sequence. */
  let isKind = false

  /** @returns where the string that is being cut ends: at its quote, or at the end of the part */
  function skipString(part: Uint8Array, from: number): number {
    for (let start = from; ;) {
      const quote = part.indexOf(QUOTE, start)
      const end = quote < 0 ? part.length : quote
      let backslashes = 0
      while (end - backslashes > start && part[end - backslashes - 1] === BACKSLASH) backslashes++
      // The last byte of the part before may have been a backslash.
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
      // The string goes on in the next part.
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
