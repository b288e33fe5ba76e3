/** Renders a tree to a picture in the calling process: layout, then rasterization. Runs in the renderer's child. */
import { Resvg } from '@resvg/resvg-js'
import satori from 'satori'
import type { Element } from './element.ts'
import { typeset } from './typesetting.ts'

export interface Size {
  readonly width: number
  readonly height: number
}

/** Renders a tree as PNG. @throws Error if the layout fails */
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
