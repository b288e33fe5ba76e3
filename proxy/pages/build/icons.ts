/** Icons of the pages: the emblem of the golden core on deep jade. */
import { Resvg } from '@resvg/resvg-js'
import { emblem } from '#shared/rules/emblems.ts'

const GOLD = '#f3d38a'
const LEVEL = 3

/** @param round corners as of a tile; without, the picture fills its square, as maskable icons must */
const drawing = (round: boolean): string => {
  const inner = emblem(LEVEL, GOLD, '#0d2724').replace(
    '<svg ',
    '<svg x="104" y="104" width="304" height="304" ',
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" rx="${round ? 96 : 0}" fill="#0d3b36"/><circle cx="256" cy="256" r="214" fill="#061816" stroke="${GOLD}" stroke-width="10"/>${inner}</svg>`
}

export const iconSvg = (): Uint8Array => new TextEncoder().encode(drawing(true))

/** A square PNG. @param width in pixels */
export const iconPng = (width: number): Uint8Array =>
  new Resvg(drawing(false), { fitTo: { mode: 'width', value: width } }).render().asPng()
