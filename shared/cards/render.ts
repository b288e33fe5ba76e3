/** From a tree to a picture, in the process that calls it: layout, then pixels. The renderer's child runs this. */
import { Resvg } from '@resvg/resvg-js'
import satori from 'satori'
import type { Element } from './element.ts'
import { typeset } from './typesetting.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** Draws a tree as a PNG. @throws for a tree that cannot be laid out */
export async function render(root: Element, { width, height }: Size): Promise<Uint8Array> {
  const { element, fonts, graphemeImages } = typeset(root)
  const svg = await satori(element as Parameters<typeof satori>[0], {
    width,
    height,
    fonts: [...fonts],
    graphemeImages,
  })
  return new Resvg(svg, { font: { loadSystemFonts: false } }).render().asPng()
}
