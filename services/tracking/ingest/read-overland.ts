/** Overland: a batch of GeoJSON features (aaronpk/Overland-iOS, README.md and GLManager.m). */
import { MAX_POINTS } from '#shared/contracts/fields.ts'
import { parseJson } from '#shared/http/body.ts'
import { Refusal } from '#shared/http/errors.ts'
import {
  accuracyOf,
  degrees,
  isObject,
  measured,
  NO_POINT,
  type Received,
  sentPoint,
  speedOf,
  timeOf,
  UNREADABLE,
} from './sent-point.ts'

const tooMany = () =>
  new Refusal(413, 'too-large', `The batch has more than ${MAX_POINTS} points: choose a smaller batch size.`)

/** Visits, pauses and the like have an action; a finished trip has a type. */
const isPosition = (properties: unknown): boolean =>
  !isObject(properties) || ((properties.action ?? null) === null && properties.type !== 'trip')

function pointOf(feature: unknown): unknown {
  if (!isObject(feature)) return feature
  const geometry = isObject(feature.geometry) ? feature.geometry : {}
  const properties = isObject(feature.properties) ? feature.properties : {}
  const [lng, lat] = Array.isArray(geometry.coordinates) ? (geometry.coordinates as unknown[]) : []
  return sentPoint('overland', {
    lat: degrees(lat),
    lng: degrees(lng),
    timestamp: timeOf(properties.timestamp),
    accuracy: accuracyOf(properties.horizontal_accuracy),
    altitude: measured(properties.altitude),
    speed: speedOf(properties.speed, 'metresASecond'),
  })
}

/**
 * The field `current` is not read: the same point follows in a later batch.
 * @throws Refusal 400 for a body that is not JSON, 413 for a batch that is larger than the app makes them
 */
export function readOverland(bytes: Uint8Array): Received {
  if (bytes.length === 0) return NO_POINT
  const batch = parseJson(bytes)
  if (!isObject(batch)) return UNREADABLE
  const features = batch.locations ?? []
  if (!Array.isArray(features)) return UNREADABLE
  if (features.length > MAX_POINTS) throw tooMany()
  const positions = features.filter((feature) => !isObject(feature) || isPosition(feature.properties))
  return { points: positions.map(pointOf), refused: [] }
}
