/**
 * The grid of the map: square cells in degrees, 0.2° wide at zoom 6 and half as wide with each zoom up to 18. A cell
 * includes its western and southern edge. Four cells of the next zoom fill a cell exactly.
 */

import type { Place } from '#shared/core/rules/geo.ts'

export const MIN_ZOOM = 6
export const MAX_ZOOM = 18

/** Column `x` counts from 180° west, row `y` from the south pole. */
export interface Cell {
  readonly zoom: number
  readonly x: number
  readonly y: number
}

/** Cells per degree at the finest zoom: a whole number, so that places on an edge are in the right cell. */
export const FINEST_PER_DEGREE = 20_480
const FINEST_X = 360 * FINEST_PER_DEGREE - 1
const FINEST_Y = 180 * FINEST_PER_DEGREE - 1

/** Column at the finest zoom; the 180th meridian belongs to the last one. */
const finestX = (lng: number): number =>
  Math.min(Math.floor(lng * FINEST_PER_DEGREE + 180 * FINEST_PER_DEGREE), FINEST_X)
/** Row at the finest zoom; the north pole belongs to the last one. */
const finestY = (lat: number): number =>
  Math.min(Math.floor(lat * FINEST_PER_DEGREE + 90 * FINEST_PER_DEGREE), FINEST_Y)

/** The cell of a place (degrees) at a zoom from 6 to 18. */
export function cellAt(lat: number, lng: number, zoom: number): Cell {
  const up = MAX_ZOOM - zoom
  return { zoom, x: finestX(lng) >> up, y: finestY(lat) >> up }
}

/** Name of a cell, the same for everyone: `zoom/x/y`. */
export const cellName = ({ zoom, x, y }: Cell): string => `${zoom}/${x}/${y}`

/** Degrees to seven decimals, about a centimetre: neighbours share their edges to the last digit. */
const degrees = (value: number): number => Math.round(value * 1e7) / 1e7

/** Edges of a cell in degrees. */
export function cellBounds({ zoom, x, y }: Cell): [west: number, south: number, east: number, north: number] {
  const perDegree = FINEST_PER_DEGREE / 2 ** (MAX_ZOOM - zoom)
  return [
    degrees(x / perDegree - 180),
    degrees(y / perDegree - 90),
    degrees((x + 1) / perDegree - 180),
    degrees((y + 1) / perDegree - 90),
  ]
}

/** Middle of a cell in degrees. */
export function cellCentre({ zoom, x, y }: Cell): Place {
  const perDegree = FINEST_PER_DEGREE / 2 ** (MAX_ZOOM - zoom)
  return { lat: (y + 0.5) / perDegree - 90, lng: (x + 0.5) / perDegree - 180 }
}
