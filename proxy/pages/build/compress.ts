/** Compressed forms of a file, made once at build time with the strongest settings. */
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'

export const ENCODINGS = ['br', 'zstd', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]
/** Ending of a compressed file beside its original, as Caddy's `precompressed` finds it. */
export const ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', zstd: '.zst', gzip: '.gz' }

const COMPRESSORS: Readonly<Record<Encoding, (bytes: Uint8Array) => Uint8Array>> = {
  br: (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  zstd: (bytes) => zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 19 } }),
  gzip: (bytes) => gzipSync(bytes, { level: 9 }),
}

/** Pictures are compressed already; a very small file is not worth it. */
const isCompressible = (path: string, bytes: Uint8Array): boolean =>
  !path.endsWith('.png') && bytes.length > 400

/** Forms that are smaller than the file itself. */
export function compress(path: string, bytes: Uint8Array): Partial<Record<Encoding, Uint8Array>> {
  if (!isCompressible(path, bytes)) return {}
  const forms = ENCODINGS.map((encoding) => [encoding, COMPRESSORS[encoding](bytes)] as const)
  return Object.fromEntries(forms.filter(([, form]) => form.length < bytes.length))
}
