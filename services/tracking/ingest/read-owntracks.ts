/** OwnTracks over HTTP: one JSON message per request (owntracks/booklet, docs/tech/json.md and http.md). */
import { parseJson } from '#shared/http/body.ts'
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

/**
 * Overland has a mode "Owntracks" whose times are seconds since 2001 (GLManager.m, timeIntervalSinceReferenceDate).
 * As seconds since 1970 they would lie before September 2001.
 */
const REFERENCE_DATE_S = 978_307_200
const LEAST_S = 1e9

const timestampOf = (tst: unknown): unknown =>
  timeOf(typeof tst === 'number' && tst < LEAST_S ? tst + REFERENCE_DATE_S : tst)

/** @throws Refusal 400 for a body that is not JSON */
export function readOwnTracks(bytes: Uint8Array): Received {
  // A friend who was deleted in the app arrives as an empty message.
  if (bytes.length === 0) return NO_POINT
  const message = parseJson(bytes)
  if (!isObject(message)) return UNREADABLE
  const { _type: type } = message
  if (type === 'encrypted') return UNREADABLE
  if (type !== 'location') return NO_POINT
  // The time of a ping is the time of sending, but its place may be hours old.
  if (message.t === 'p') return { points: [], refused: ['old-place'] }
  const speed = speedOf(message.vel, 'kmh')
  return {
    points: [
      sentPoint('owntracks', {
        lat: degrees(message.lat),
        lng: degrees(message.lon),
        timestamp: timestampOf(message.tst),
        accuracy: accuracyOf(message.acc),
        altitude: measured(message.alt),
        speed: speed === 0 ? null : speed,
      }),
    ],
    refused: [],
  }
}
