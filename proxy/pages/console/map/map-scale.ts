/** The scale of a map: a line of a round length. */
import { number } from '../clock.ts'

const EARTH_M = 40_075_017
const ROUND = [5, 2, 1] as const

/** The largest round length that a line has room for: 1, 2 or 5 of a power of ten. */
export function scaleLine(
  zoom: number,
  lat: number,
  mostPx: number,
): { readonly widthPx: number; readonly text: string } {
  const metresPerPx = (EARTH_M * Math.cos((lat * Math.PI) / 180)) / (256 * 2 ** zoom)
  const most = mostPx * metresPerPx
  const power = 10 ** Math.floor(Math.log10(most))
  const metres = power * (ROUND.find((share) => share * power <= most) ?? 1)
  return {
    widthPx: metres / metresPerPx,
    text: metres < 1_000 ? `${number(metres)} m` : `${number(metres / 1_000)} km`,
  }
}
