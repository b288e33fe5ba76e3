/**
 * Draws the crowd: one rectangle for each cell, on whole pixels, which is the fastest that a canvas can do. Large cells,
 * of which few are in sight, have round corners.
 */
import type { Crowd } from './shapes.ts'
import type { View } from './view.ts'

/** A cell stays visible when it is narrower than this many CSS pixels. */
const LEAST_PX = 3
/** Cells wider than this have a line of ground between them. */
const GAP_FROM_PX = 7

/** Cells wider than this have round corners, of this share of their width, and not rounder. */
const ROUND_FROM_PX = 11
const ROUND_SHARE = 0.26
const ROUND_MOST_PX = 10

/** Opacity of each step: the ground and the route are seen through a thin crowd. */
const OPACITY = [0.46, 0.62, 0.78, 0.9, 0.97]

interface CrowdColours {
  /** By step, 1 first. */
  readonly steps: readonly string[]
}

export function drawCrowd(
  context: CanvasRenderingContext2D,
  view: View,
  crowd: Crowd,
  colours: CrowdColours,
): void {
  const { scale, left, top, width, height, density, type } = view
  context.clearRect(0, 0, width, height)
  const least = Math.round(LEAST_PX * density * type)
  const gapFrom = GAP_FROM_PX * density
  const roundFrom = ROUND_FROM_PX * density
  const { edges, steps, count } = crowd
  let current = 0
  for (let i = 0; i < count; i++) {
    let west = Math.round((edges[i * 4]! - left) * scale)
    let north = Math.round((edges[i * 4 + 1]! - top) * scale)
    let wide = Math.round((edges[i * 4 + 2]! - left) * scale) - west
    let high = Math.round((edges[i * 4 + 3]! - top) * scale) - north
    if (wide < least) {
      west -= (least - wide) >> 1
      wide = least
    } else if (wide > gapFrom) wide--
    if (high < least) {
      north -= (least - high) >> 1
      high = least
    } else if (high > gapFrom) high--
    if (west > width || north > height || west + wide < 0 || north + high < 0) continue
    if (steps[i] !== current) {
      current = steps[i]!
      context.fillStyle = colours.steps[current - 1]!
      context.globalAlpha = OPACITY[current - 1]!
    }
    if (wide < roundFrom) context.fillRect(west, north, wide, high)
    else {
      context.beginPath()
      context.roundRect(west, north, wide, high, Math.min(wide * ROUND_SHARE, ROUND_MOST_PX * density))
      context.fill()
    }
  }
  context.globalAlpha = 1
}
