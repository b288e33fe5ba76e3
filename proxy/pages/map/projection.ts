/**
 * Mercator projection, and a camera over it. In world coordinates, the world is the square from 0 to 1; y grows to the
 * south.
 */
import { distanceMm } from '#shared/core/rules/geo.ts'

export interface Camera {
  /** World coordinates of the centre. */
  readonly x: number
  readonly y: number
  /** The world is 256 × 2^zoom CSS pixels wide. */
  readonly zoom: number
}

export interface Size {
  readonly width: number
  readonly height: number
}

/** Pixels at the edges that are covered by other elements. */
export interface Insets {
  readonly top: number
  readonly right: number
  readonly bottom: number
  readonly left: number
}

/** West, north, east, south in world coordinates. */
export interface Bounds {
  readonly west: number
  readonly north: number
  readonly east: number
  readonly south: number
}

const MIN_ZOOM = 4
const MAX_ZOOM = 17

export const worldX = (lng: number): number => (lng + 180) / 360
export const worldY = (lat: number): number =>
  0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)

export const lngOf = (x: number): number => x * 360 - 180
export const latOf = (y: number): number =>
  (Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) * 360) / Math.PI - 90

/** CSS pixels of the whole world. */
export const scaleOf = (zoom: number): number => 256 * 2 ** zoom

const within = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value))

/** A camera clamped to the world. */
const clamped = ({ x, y, zoom }: Camera): Camera => ({
  x: within(x, 0, 1),
  y: within(y, 0, 1),
  zoom: within(zoom, MIN_ZOOM, MAX_ZOOM),
})

/** Moves the camera by CSS pixels: the content shifts by (dx, dy). */
export function panned(camera: Camera, dx: number, dy: number): Camera {
  const scale = scaleOf(camera.zoom)
  return clamped({ ...camera, x: camera.x - dx / scale, y: camera.y - dy / scale })
}

/** Zooms around a point of the screen, in CSS pixels from its centre. */
export function zoomed(camera: Camera, by: number, fromX = 0, fromY = 0): Camera {
  const zoom = within(camera.zoom + by, MIN_ZOOM, MAX_ZOOM)
  const keep = 1 / scaleOf(camera.zoom) - 1 / scaleOf(zoom)
  return clamped({ x: camera.x + fromX * keep, y: camera.y + fromY * keep, zoom })
}

/** Bounds of places; null without any. */
export function boundsOf(places: Iterable<readonly [x: number, y: number]>): Bounds | null {
  let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of places) {
    west = Math.min(west, x)
    east = Math.max(east, x)
    north = Math.min(north, y)
    south = Math.max(south, y)
  }
  return west > east ? null : { west, north, east, south }
}

/** The closest camera that shows the bounds in the uncovered part of the screen. */
export function fitting(bounds: Bounds, size: Size, insets: Insets, maxZoom: number): Camera {
  const width = Math.max(40, size.width - insets.left - insets.right)
  const height = Math.max(40, size.height - insets.top - insets.bottom)
  const wide = Math.max(bounds.east - bounds.west, 1e-9)
  const high = Math.max(bounds.south - bounds.north, 1e-9)
  const zoom = within(Math.log2(Math.min(width / wide, height / high) / 256), MIN_ZOOM, maxZoom)
  const scale = scaleOf(zoom)
  return clamped({
    x: (bounds.west + bounds.east) / 2 + (insets.right - insets.left) / 2 / scale,
    y: (bounds.north + bounds.south) / 2 + (insets.bottom - insets.top) / 2 / scale,
    zoom,
  })
}

export const distanceKm = (a: { lat: number; lng: number }, b: { lat: number; lng: number }): number =>
  distanceMm(a, b) / 1e6
