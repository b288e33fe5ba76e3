/** Draws the crowd: one rectangle for each cell, on whole pixels, which is the fastest that a canvas can do. */
import type { Crowd } from './shapes.ts'
import type { View } from './view.ts'

/** A cell stays visible when it is narrower than this many CSS pixels. */
const LEAST_PX = 3
/** Cells wider than this have a line of ground between them. */
const GAP_FROM_PX = 7

/** Opacity of each step: the ground and the route are seen through a thin crowd. */
const OPACITY = [0.4, 0.6, 0.75, 0.88, 0.96]

export interface CrowdColours {
  /** By step, 1 first. */
  readonly steps: readonly string[]
}

export function drawCrowd(
  context: CanvasRenderingContext2D,
  view: View,
  crowd: Crowd,
  colours: CrowdColours,
): void {
  const { scale, left, top, width, height, density } = view
  context.clearRect(0, 0, width, height)
  const least = Math.round(LEAST_PX * density)
  const gapFrom = GAP_FROM_PX * density
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
    context.fillRect(west, north, wide, high)
  }
  context.globalAlpha = 1
}
