/** The id of a pilgrim outside LINE: 128 random bits, written as `w-` and 26 characters of Crockford's base 32. */

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
export const BYTES = 16
const CHARACTERS = 26

export function appIdOf(bytes: Uint8Array): string {
  if (bytes.length !== BYTES) throw new RangeError(`an id has ${BYTES} bytes, not ${bytes.length}`)
  let number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  let text = ''
  for (let i = 0; i < CHARACTERS; i++) {
    text = DIGITS[Number(number & 31n)]! + text
    number >>= 5n
  }
  return `w-${text}`
}

/** The 16 bytes of an id; null for an id of another kind, such as LINE's. */
export function bytesOfAppId(id: string): Uint8Array | null {
  if (!id.startsWith('w-') || id.length !== CHARACTERS + 2) return null
  let number = 0n
  for (const character of id.slice(2)) {
    const digit = DIGITS.indexOf(character)
    if (digit < 0) return null
    number = (number << 5n) | BigInt(digit)
  }
  if (number >> 128n !== 0n) return null
  return Uint8Array.from({ length: BYTES }, (_, i) => Number((number >> BigInt(8 * (BYTES - 1 - i))) & 255n))
}
