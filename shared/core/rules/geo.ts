/** Geometry on the sphere. */

/** Mean Earth radius in metres (IUGG mean radius R₁; shared/README.md, "Decisions"). */
export const EARTH_RADIUS_M = 6_371_008.8

/** A position that is less exact is rough: no distance is measured from it or to it. Metres. */
const ROUGH_M = 100

/** Whether a position is rough. @param accuracy metres, as the table stores it (float4); null: unknown, not rough */
export const isRough = (accuracy: number | null): boolean =>
  accuracy !== null && Math.fround(accuracy) > ROUGH_M

const RADIANS = Math.PI / 180

/** Metres of a degree of latitude, and of longitude on the equator. */
export const METRES_PER_DEGREE = 111_195

/** Great-circle distance by haversine, in whole millimetres, so that sums are exact in any grouping. */
export function distanceMm(
  a: { readonly lat: number; readonly lng: number },
  b: { readonly lat: number; readonly lng: number },
): number {
  const dLat = (b.lat - a.lat) * RADIANS
  const dLng = (b.lng - a.lng) * RADIANS
  const sinLat = Math.sin(dLat / 2)
  const sinLng = Math.sin(dLng / 2)
  const h = sinLat * sinLat + Math.cos(a.lat * RADIANS) * Math.cos(b.lat * RADIANS) * sinLng * sinLng
  return Math.round(2 * EARTH_RADIUS_M * Math.asin(Math.min(1, Math.sqrt(h))) * 1_000)
}
