/** The part of the world that a canvas shows, in its own pixels. */
import type { Bounds, Camera, Size } from './projection.ts'
import { scaleOf } from './projection.ts'

/** Value of a colour or font token, by its name without dashes. */
export type Colour = (name: string) => string

/** Maximum pixels per CSS pixel: more are invisible and expensive. */
export const MOST_DENSE = 2

/** Reads tokens of the current theme. */
export function tokensOf(element: HTMLElement): Colour {
  const style = getComputedStyle(element)
  const known = new Map<string, string>()
  return (name) => {
    const value = known.get(name) ?? style.getPropertyValue(`--${name}`).trim()
    known.set(name, value)
    return value
  }
}

export interface View extends Size {
  /** Canvas pixels of the whole world. */
  readonly scale: number
  /** World coordinates of the canvas's corner. */
  readonly left: number
  readonly top: number
  /** Canvas pixels of a CSS pixel. */
  readonly density: number
  /** Font scale: 1 on phones, more on wall displays. */
  readonly type: number
  readonly zoom: number
  readonly bounds: Bounds
}

/** @param size of the canvas in CSS pixels, including its margins */
export function viewOf(camera: Camera, size: Size, density: number, type = 1): View {
  const scale = scaleOf(camera.zoom) * density
  const width = Math.round(size.width * density)
  const height = Math.round(size.height * density)
  const left = camera.x - width / 2 / scale
  const top = camera.y - height / 2 / scale
  return {
    scale,
    left,
    top,
    width,
    height,
    density,
    type,
    zoom: camera.zoom,
    bounds: {
      west: left,
      north: top,
      east: left + width / scale,
      south: top + height / scale,
    },
  }
}

export const meet = (a: Bounds, b: Bounds): boolean =>
  a.west <= b.east && b.west <= a.east && a.north <= b.south && b.north <= a.south
