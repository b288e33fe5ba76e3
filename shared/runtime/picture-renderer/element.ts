/** The element tree of a picture: plain objects that the renderer lays out like a web page. */

export type Style = Readonly<Record<string, string | number>>

export interface Element {
  readonly type: string
  readonly props: {
    readonly style?: Style
    readonly children?: Content | readonly Content[]
    /** Replaces a text that cannot be rendered: in a right-to-left or unknown script. */
    readonly instead?: string
    readonly src?: string
    readonly width?: number
    readonly height?: number
  }
}

export type Content = Element | string

/** A box with content; by default a flex row. */
export const box = (style: Style, ...children: readonly Content[]): Element => ({
  type: 'div',
  props: { style: { display: 'flex', boxSizing: 'border-box', ...style }, children },
})

/** User text: rendered if the fonts support it, otherwise replaced by `instead`. */
export const words = (style: Style, text: string, instead: string): Element => ({
  type: 'div',
  props: { style: { boxSizing: 'border-box', ...style }, children: text, instead },
})

/** An SVG document as a picture, `width` × `height` pixels large. */
export const drawing = (svg: string, width: number, height: number, style: Style = {}): Element => ({
  type: 'img',
  props: {
    src: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`,
    width,
    height,
    style,
  },
})
