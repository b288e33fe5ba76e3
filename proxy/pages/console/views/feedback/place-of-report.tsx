/** The place that the pilgrims' app puts into a report's `device_info`. */
import { useEffect } from 'preact/hooks'
import { kmAlong, measureRoute, unpackLines } from '#shared/rules/along-route.ts'
import { date } from '../../clock.ts'
import { loadGround, route } from '../../map/ground.ts'
import { kmOnRoute, placeName } from '../../map/place-words.ts'
import { fill, words } from '../../words.ts'

interface Place {
  readonly lat: number
  readonly lng: number
  /** Metres. */
  readonly accuracy: number
  /** ISO 8601. */
  readonly at: string
}

/** @param info whatever a client has sent */
export function placeOf(info: string | null): Place | null {
  try {
    const { lat, lng, accuracy, at } = (JSON.parse(info ?? '') as { place: Place }).place
    const isPlace = [lat, lng, accuracy, Date.parse(at)].every(Number.isFinite)
    return isPlace ? { lat, lng, accuracy, at } : null
  } catch {
    return null
  }
}

/** Where it is on the route, in degrees for other maps, and how exact it was when. */
export function PlaceOfReport({ place }: { readonly place: Place }) {
  useEffect(() => void loadGround(), [])
  const ground = route.value
  const { lat, lng, accuracy, at } = place
  const route_km =
    ground === null ? null : kmAlong(measureRoute(unpackLines(ground.lines), ground.km), [], place)
  const here = { lat, lng, route_km }
  const degrees = `${lat.toFixed(5)}, ${lng.toFixed(5)}`
  const names = route_km === null ? [] : [placeName(here, ground), kmOnRoute(here)]
  const exact = fill(words.value.feedback.placeExact, {
    metres: String(Math.round(accuracy)),
    time: date(at),
  })
  return <>{[...names, degrees, exact].join(' · ')}</>
}
