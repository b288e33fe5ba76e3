/**
 * The fonts of all pictures. The packages split them into many small files; only those that a text needs are read.
 * A character uses the first face that has a glyph for it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { brotliDecompressSync, inflateSync } from 'node:zlib'

export type Weight = 400 | 700

interface Face {
  readonly package: string
  /** Weights in the package; a variable font uses its default weight and is emboldened. */
  readonly weights: readonly Weight[] | 'variable'
  /** Restricts a face to these scripts. */
  readonly only?: RegExp
}

const FACES: readonly Face[] = [
  { package: '@fontsource/noto-serif', weights: [400, 700] },
  { package: '@fontsource/noto-serif-thai', weights: [400, 700], only: /\p{Script=Thai}/u },
  { package: '@fontsource/gowun-batang', weights: [400, 700], only: /\p{Script=Hangul}/u },
  { package: '@fontsource/lxgw-wenkai-tc', weights: [400, 700] },
  // For rare Japanese and simplified Chinese characters.
  { package: '@fontsource-variable/noto-sans-jp', weights: 'variable' },
  { package: '@fontsource-variable/noto-sans-sc', weights: 'variable' },
  { package: '@fontsource/noto-sans-symbols-2', weights: [400] },
]

/** A font in the form of the layout engine; each file is a separate family. */
export interface Font {
  readonly name: string
  readonly weight: Weight
  readonly data: Buffer
}

interface Subset {
  readonly face: Face
  readonly name: string
  readonly ranges: readonly (readonly [from: number, to: number])[]
}

/** Loaded font files by name; cached, because the layout engine caches parsed fonts by identity. */
const files = new Map<string, Buffer>()
const coverage = new Map<string, Set<number>>()
const homes = new Map<number, Subset | null>()
let subsets: readonly Subset[] | null = null

const directoryOf = (face: Face): string =>
  dirname(Bun.resolveSync(`${face.package}/package.json`, import.meta.dir))

function readSubsets(): readonly Subset[] {
  return FACES.flatMap((face) => {
    const lists = JSON.parse(readFileSync(join(directoryOf(face), 'unicode.json'), 'utf8')) as Record<
      string,
      string
    >
    return Object.entries(lists).map(([key, list]) => ({
      face,
      name: key.replaceAll(/[[\]]/g, ''),
      ranges: list.split(',').map((range) => {
        const [from, to] = range.replace(/^U\+/i, '').split('-')
        return [Number.parseInt(from!, 16), Number.parseInt(to ?? from!, 16)] as const
      }),
    }))
  })
}

function fileOf({ face, name }: Subset, weight: Weight): string {
  const family = face.package.split('/')[1]!
  const style =
    face.weights === 'variable' ? 'wght' : face.weights.includes(weight) ? weight : face.weights[0]!
  const extension = face.weights === 'variable' ? 'woff2' : 'woff'
  return join(directoryOf(face), 'files', `${family}-${name}-${style}-normal.${extension}`)
}

const read = (path: string): Buffer => files.getOrInsertComputed(path, () => readFileSync(path))

function has(subset: Subset, codePoint: number): boolean {
  if (!subset.ranges.some(([from, to]) => codePoint >= from && codePoint <= to)) return false
  if (subset.face.only?.test(String.fromCodePoint(codePoint)) === false) return false
  return covers(subset, codePoint)
}

function covers(subset: Subset, codePoint: number): boolean {
  const path = fileOf(subset, 400)
  const found = (): Set<number> => (existsSync(path) ? codePointsOf(read(path)) : new Set())
  return coverage.getOrInsertComputed(path, found).has(codePoint)
}

const homeOf = (codePoint: number): Subset | null =>
  homes.getOrInsertComputed(
    codePoint,
    () => (subsets ??= readSubsets()).find((subset) => has(subset, codePoint)) ?? null,
  )

/** Whether any font has a glyph for a character. */
export const hasGlyph = (codePoint: number): boolean => homeOf(codePoint) !== null

/**
 * Whether a grapheme can be drawn. The layout engine draws all of it with the font of its first character, and an empty
 * box for a mark that this font file lacks.
 */
export function hasGlyphs(grapheme: string): boolean {
  const [first, ...marks] = Array.from(grapheme, (char) => char.codePointAt(0)!)
  const home = first === undefined ? null : homeOf(first)
  return home !== null && marks.every((mark) => covers(home, mark))
}

/** The fonts that these texts need, in order of precedence. */
export function fontsFor(texts: readonly { readonly text: string; readonly weight: Weight }[]): Font[] {
  const needed = new Map<string, Font & { readonly order: number }>()
  for (const { text, weight } of texts) {
    for (const char of text) {
      const home = homeOf(char.codePointAt(0)!)
      if (home === null) continue
      const path = fileOf(home, weight)
      const order = FACES.indexOf(home.face)
      needed.set(path, {
        name: `${home.face.package}/${home.name}`,
        weight: weightOf(home.face, weight),
        data: read(path),
        order,
      })
    }
  }
  return [...needed.values()].sort((a, b) => a.order - b.order)
}

const weightOf = ({ weights }: Face, asked: Weight): Weight =>
  weights !== 'variable' && weights.includes(asked) ? asked : 400

/**
 * Returns the code points of a WOFF or WOFF2 file.
 * @throws RangeError for any other file
 */
export function codePointsOf(file: Buffer): Set<number> {
  const signature = file.toString('latin1', 0, 4)
  if (signature === 'wOFF') return readCmap(woffTable(file))
  if (signature === 'wOF2') return readCmap(woff2Table(file))
  throw new RangeError('not a WOFF or WOFF2 file')
}

const NO_CMAP = 'the font has no cmap table'

/** The cmap table of a WOFF file (W3C, WOFF 1.0, section 5). */
function woffTable(file: Buffer): Buffer {
  for (let i = 0, at = 44; i < file.readUInt16BE(12); i++, at += 20) {
    if (file.toString('latin1', at, at + 4) !== 'cmap') continue
    const offset = file.readUInt32BE(at + 4)
    const packed = file.readUInt32BE(at + 8)
    const length = file.readUInt32BE(at + 12)
    const table = file.subarray(offset, offset + packed)
    return packed === length ? table : inflateSync(table)
  }
  throw new RangeError(NO_CMAP)
}

/** A number of 1 to 5 bytes with 7 bits each (W3C, WOFF 2.0, section 4.1). */
function readBase128(file: Buffer, at: number): [value: number, next: number] {
  let value = 0
  for (let i = at; i < at + 5; i++) {
    value = value * 128 + (file[i]! & 0x7f)
    if (file[i]! < 0x80) return [value, i + 1]
  }
  throw new RangeError('a number in the font is too long')
}

/** WOFF 2.0 indexes of known tables: these are stored transformed. */
const GLYF = 10
const LOCA = 11
const CMAP = 0
const NAMED = 63

/** The cmap table of a WOFF2 file, whose tables are compressed as one stream. */
function woff2Table(file: Buffer): Buffer {
  let at = 48
  let offset = 0
  let found: [from: number, to: number] | null = null
  for (let i = 0; i < file.readUInt16BE(12); i++) {
    const flags = file[at++]!
    const tag = flags & 63
    const isCmap = tag === CMAP || (tag === NAMED && file.toString('latin1', at, at + 4) === 'cmap')
    if (tag === NAMED) at += 4
    let length: number
    ;[length, at] = readBase128(file, at)
    const version = flags >> 6
    const transformed = tag === GLYF || tag === LOCA ? version !== 3 : version !== 0
    if (transformed) [length, at] = readBase128(file, at)
    if (isCmap) found = [offset, offset + length]
    offset += length
  }
  if (found === null) throw new RangeError(NO_CMAP)
  const stream = brotliDecompressSync(file.subarray(at, at + file.readUInt32BE(20)))
  return stream.subarray(...found)
}

/** Reads the relevant cmap subtables (OpenType): format 4 for the basic plane, format 12 for all planes. */
function readCmap(cmap: Buffer): Set<number> {
  const found = new Set<number>()
  for (let i = 0; i < cmap.readUInt16BE(2); i++) {
    const table = cmap.subarray(cmap.readUInt32BE(4 + i * 8 + 4))
    const format = table.readUInt16BE(0)
    if (format === 4) readFormat4(table, found)
    else if (format === 12) readFormat12(table, found)
  }
  return found
}

function readFormat4(table: Buffer, found: Set<number>): void {
  const twice = table.readUInt16BE(6)
  for (let at = 14; at < 14 + twice; at += 2) {
    const end = table.readUInt16BE(at)
    const start = table.readUInt16BE(at + twice + 2)
    const delta = table.readUInt16BE(at + 2 * twice + 2)
    const rangeAt = at + 3 * twice + 2
    const range = table.readUInt16BE(rangeAt)
    for (let c = start; c <= end && c < 0xffff; c++) {
      const glyph = range === 0 ? c : table.readUInt16BE(rangeAt + range + 2 * (c - start))
      if (glyph !== 0 && ((glyph + delta) & 0xffff) !== 0) found.add(c)
    }
  }
}

function readFormat12(table: Buffer, found: Set<number>): void {
  for (let i = 0, at = 16; i < table.readUInt32BE(12); i++, at += 12) {
    const start = table.readUInt32BE(at)
    const end = table.readUInt32BE(at + 4)
    const glyph = table.readUInt32BE(at + 8)
    for (let c = start; c <= end; c++) if (glyph + c - start !== 0) found.add(c)
  }
}
