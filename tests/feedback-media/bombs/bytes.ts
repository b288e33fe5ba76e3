/** Encodes integers of binary formats. */

export type Bytes = Uint8Array<ArrayBuffer>

export const bytesOf = (...parts: readonly Uint8Array[]): Bytes => new Uint8Array(Buffer.concat(parts))
export const be16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255])
export const be32 = (value: number): Buffer =>
  Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255])
export const le24 = (value: number): Buffer => Buffer.from([value & 255, (value >> 8) & 255, value >> 16])
export const le32 = (value: number): Buffer => be32(value).reverse()
export const text = (value: string): Buffer => Buffer.from(value, 'latin1')
export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
