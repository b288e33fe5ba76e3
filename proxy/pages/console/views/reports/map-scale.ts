/** The scale of a picture of the map: a bar of a round number of kilometres. */
import { figure } from '#shared/locales/units.ts'
import { distanceKm, latOf, lngOf } from '../../../map/projection.ts'
import type { View } from '../../../map/view.ts'
import { onPaper } from '../../parts/paper.ts'
import { fontOf } from '../../parts/picture.ts'

const STEPS_KM = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
const MOST_PX = 170
const HIGH = 6

/** Kilometres of a CSS pixel in the middle of a view. */
function kmOfPixel({ bounds: { west, east, north, south }, width, density }: View): number {
  const lat = latOf((north + south) / 2)
  const middle = (west + east) / 2
  const share = (east - west) / 100
  const km = distanceKm({ lat, lng: lngOf(middle) }, { lat, lng: lngOf(middle + share) })
  return (km * 100) / (width / density)
}

/** The longest round length that has room. */
function scaleBar(view: View): { readonly km: number; readonly px: number } {
  const each = kmOfPixel(view)
  const km = STEPS_KM.findLast((one) => one / each <= MOST_PX) ?? STEPS_KM[0]!
  return { km, px: km / each }
}

/** The bar ends in the corner at `right`, `bottom`, in CSS pixels. */
export function drawScale(
  context: CanvasRenderingContext2D,
  view: View,
  { right, bottom }: { readonly right: number; readonly bottom: number },
): void {
  const { km, px } = scaleBar(view)
  const line = [
    [right - px, bottom - HIGH],
    [right - px, bottom],
    [right, bottom],
    [right, bottom - HIGH],
  ] as const
  const trace = (width: number, colour: string): void => {
    context.beginPath()
    for (const place of line) context.lineTo(...place)
    context.lineWidth = width
    context.strokeStyle = colour
    context.stroke()
  }
  context.lineJoin = 'miter'
  trace(5, onPaper('map-halo'))
  trace(1.5, onPaper('ink'))
  context.font = fontOf(13, 600)
  context.textAlign = 'right'
  context.textBaseline = 'alphabetic'
  context.lineWidth = 3
  context.strokeStyle = onPaper('map-halo')
  context.strokeText(`${figure(km)} km`, right, bottom - HIGH - 3)
  context.fillStyle = onPaper('ink')
  context.fillText(`${figure(km)} km`, right, bottom - HIGH - 3)
}
