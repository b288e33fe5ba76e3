/** Compressed forms of a file, created once at build time with strong settings. */
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

export const ENCODINGS = ['br', 'zstd', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]
/** Suffix of a compressed file beside its original, as Caddy's `precompressed` expects it. */
export const ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', zstd: '.zst', gzip: '.gz' }

/** Larger files are compressed with less effort: the embedded run does it while it answers requests. */
const LARGE_BYTES = 300_000

const COMPRESSORS: Readonly<Record<Encoding, (bytes: Uint8Array, isLarge: boolean) => Uint8Array>> = {
  br: (bytes, isLarge) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: isLarge ? 7 : constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  zstd: (bytes, isLarge) =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: isLarge ? 9 : 19 } }),
  gzip: (bytes, isLarge) => gzipSync(bytes, { level: isLarge ? 6 : 9 }),
}

/** Pictures are compressed already; a very small file is not worth it. */
const isCompressible = (path: string, bytes: Uint8Array): boolean =>
  !path.endsWith('.png') && bytes.length > 400

/** Compressed forms that are smaller than the file itself. */
export function compress(path: string, bytes: Uint8Array): Partial<Record<Encoding, Uint8Array>> {
  if (!isCompressible(path, bytes)) return {}
  const forms = ENCODINGS.map(
    (encoding) => [encoding, COMPRESSORS[encoding](bytes, bytes.length > LARGE_BYTES)] as const,
  )
  return Object.fromEntries(forms.filter(([, form]) => form.length < bytes.length))
}
