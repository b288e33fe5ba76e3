/** Reads which glyphs a font file has, in both of its containers. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { codePointsOf } from '#shared/runtime/picture-renderer/fonts.ts'

const file = (path: string): Buffer => readFileSync(Bun.resolveSync(path, import.meta.dir))

test('a WOFF and a WOFF2 of one font have the same characters', () => {
  for (const name of [
    '@fontsource/noto-serif/files/noto-serif-latin-400-normal',
    '@fontsource/noto-serif-thai/files/noto-serif-thai-thai-700-normal',
    '@fontsource/lxgw-wenkai-tc/files/lxgw-wenkai-tc-105-700-normal',
  ]) {
    const woff = codePointsOf(file(`${name}.woff`))
    expect(woff.size).toBeGreaterThan(80)
    expect(codePointsOf(file(`${name}.woff2`))).toEqual(woff)
  }
})

test('it has what it has', () => {
  const latin = codePointsOf(file('@fontsource/noto-serif/files/noto-serif-latin-400-normal.woff'))
  for (const char of 'AZaz09é—…') expect(latin.has(char.codePointAt(0)!)).toBe(true)
  for (const char of '香가กЖ') expect(latin.has(char.codePointAt(0)!)).toBe(false)
})

test('another file is refused', () => {
  for (const wrong of [Buffer.from('OTTO and more'), Buffer.from('<svg/>'), Buffer.alloc(0)])
    expect(() => codePointsOf(wrong)).toThrow(RangeError)
})
