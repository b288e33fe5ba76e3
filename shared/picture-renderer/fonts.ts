/**
 * The fonts of all pictures. The packages split them into many small files; only those that a text needs are read.
 * A character uses the first face that has a glyph for it.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { codePointsOf } from './font-file.ts'

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
    face.weights === 'variable' ? 'wght' : face.weights.includes(weight) ? weight : face.weights[0]
  const extension = face.weights === 'variable' ? 'woff2' : 'woff'
  return join(directoryOf(face), 'files', `${family}-${name}-${style}-normal.${extension}`)
}

function read(path: string): Buffer {
  let data = files.get(path)
  if (data === undefined) files.set(path, (data = readFileSync(path)))
  return data
}

function has(subset: Subset, codePoint: number): boolean {
  if (!subset.ranges.some(([from, to]) => codePoint >= from && codePoint <= to)) return false
  if (subset.face.only?.test(String.fromCodePoint(codePoint)) === false) return false
  const path = fileOf(subset, 400)
  let points = coverage.get(path)
  if (points === undefined)
    coverage.set(path, (points = existsSync(path) ? codePointsOf(read(path)) : new Set()))
  return points.has(codePoint)
}

function homeOf(codePoint: number): Subset | null {
  let home = homes.get(codePoint)
  if (home === undefined) {
    subsets ??= readSubsets()
    homes.set(codePoint, (home = subsets.find((subset) => has(subset, codePoint)) ?? null))
  }
  return home
}

/** Whether any font has a glyph for a character. */
export const hasGlyph = (codePoint: number): boolean => homeOf(codePoint) !== null

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
