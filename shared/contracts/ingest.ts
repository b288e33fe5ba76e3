/**
 * Requests of tracker apps, as their sources write them. Field names and units are the apps’ own; a missing or
 * nonsensical field never fails a request, because the app would send it forever, or delete it.
 */
import { z } from 'zod'
import { endpointsOf, type Endpoint } from './endpoint.ts'
import { EXAMPLE_DAY, exampleText, exampleNumber } from './fields.ts'

const endpoint = endpointsOf('tracking')

/** Maximum size of a body: a batch of Overland is 200 points of about 600 bytes, and the app allows 1,000 points. */
export const INGEST_BYTES = 1_048_576

/**
 * Maximum size of an OwnTracks message. A point of interest may contain a camera photo, as JPEG of quality 0.9 in
 * base64 (owntracks/ios, ViewController.swift); it is not stored.
 */
export const OWNTRACKS_BYTES = 12_582_912

/** Why a point of a tracker app is rejected, beyond the reasons of `PointRejection`. */
export type IngestRejection =
  /** The body is not in the app’s format, or is encrypted. */
  | 'unreadable'
  /** A ping, or a place of Overland without accuracy: the time is now, but the place is old. */
  | 'old-place'
  /** Exactly 0,0, which means no fix. */
  | 'invalid-position'

const Params = z.object({
  key: exampleText('q3V8s0YtW1n6Zr4bKc7Xe2Lm9Pd5Uh-a').describe('The tracker’s key'),
})

/** A message of OwnTracks; any `_type` but `location` is acknowledged and not stored. */
export const OwnTracksMessage = z
  .looseObject({
    _type: exampleText('location').describe('location; other messages are not stored'),
    lat: exampleNumber(24.1477),
    lon: exampleNumber(120.6736),
    tst: exampleNumber(1_775_957_400).describe('Time of the fix, epoch seconds'),
    acc: z.number().describe('metres'),
    alt: z.number().describe('metres'),
    vel: z.number().describe('km/h; 0 is unknown'),
    t: z.string().describe('p: a ping with an old place, which is not stored'),
  })
  .partial()

/** A batch of Overland: GeoJSON features. Visits, trips and `current` are not stored. */
export const OverlandBatch = z.looseObject({
  locations: z.array(
    z.looseObject({
      geometry: z.looseObject({
        coordinates: z
          .array(z.number())
          .meta({ examples: [[120.6736, 24.1477]] })
          .describe('longitude, latitude'),
      }),
      properties: z
        .looseObject({
          timestamp: exampleText(`${EXAMPLE_DAY}T01:30:00Z`).describe('ISO 8601'),
          altitude: z.number().describe('metres'),
          speed: z.number().describe('m/s; negative is unknown'),
          horizontal_accuracy: z
            .number()
            .describe('metres; without a positive one the place is an old one and is not stored'),
        })
        .partial(),
    }),
  ),
})

/** The parameters of Traccar Client, OsmAnd and GPSLogger, in the query or in a form; additional ones are allowed. */
const parameters = (speed: string) =>
  z
    .looseObject({
      lat: exampleText('24.1477').describe('degrees'),
      lon: exampleText('120.6736').describe('degrees'),
      timestamp: exampleText(`${EXAMPLE_DAY}T01:30:00Z`).describe(
        'Epoch seconds or milliseconds, or ISO 8601',
      ),
      accuracy: z.string().describe('metres; 0 and below is unknown'),
      altitude: z.string().describe('metres'),
      speed: z.string().describe(`${speed}; below 0 is unknown`),
      speed_ms: z.string().describe('The same in m/s'),
    })
    .partial()

/** Sent by Traccar Client 10 as a form, and by 8 in the query. Without a place it is a heartbeat. */
export const TraccarParameters = parameters('knots')
export const TrackerParameters = parameters('m/s')

export const TraccarLocation = z.looseObject({
  location: z.looseObject({
    timestamp: exampleText(`${EXAMPLE_DAY}T01:30:00Z`).describe('ISO 8601'),
    coords: z
      .looseObject({
        latitude: exampleNumber(24.1477),
        longitude: exampleNumber(120.6736),
        accuracy: z.number().describe('metres'),
        altitude: z.number().describe('metres'),
        speed: z.number().describe('m/s; −1 is unknown'),
      })
      .partial(),
  }),
})

/** Success: the points are durable, or rejected for good. */
export const IngestAnswer = z.object({ result: z.literal('ok') })
export const OwnTracksAnswer = z
  .array(z.never())
  .max(0)
  .meta({ examples: [[]] })

/** A position with an SOS has about 300 bytes. */
const ALARM_BYTES = 4_096
const LATIN1 = new TextDecoder('latin1')

/** Whether a short request mentions an SOS. Packed bodies are not inspected: no sender with an SOS button packs. */
export const mentionsSos = (query: string, body: Uint8Array): boolean =>
  body.length <= ALARM_BYTES && /sos/i.test(query + LATIN1.decode(body))

const common = {
  limit: 'ingest',
  params: Params,
  media: 'application/json',
  bodyBytes: INGEST_BYTES,
  temporaryIs503: true,
  isAlarm: mentionsSos,
  slash: true,
  errors: ['not-found', 'paused', 'buffer-full'],
} as const satisfies Partial<Endpoint>

export const owntracksEndpoint = endpoint('POST /api/event/ingest/:key/owntracks', {
  id: 'ingestOwntracks',
  ...common,
  sentBytes: OWNTRACKS_BYTES,
  summary: 'Takes a message of OwnTracks (HTTP mode); success means durable, or never to be sent again',
  query: TrackerParameters,
  bodyKind: 'raw',
  sent: { 'application/json': OwnTracksMessage, 'application/x-www-form-urlencoded': TrackerParameters },
  data: OwnTracksAnswer,
})

export const owntracksQueryEndpoint = endpoint('GET /api/event/ingest/:key/owntracks', {
  id: 'ingestOwntracksQuery',
  ...common,
  summary: 'The same with the fields of a message in the query',
  query: TrackerParameters,
  data: OwnTracksAnswer,
})

export const overlandEndpoint = endpoint('POST /api/event/ingest/:key/overland', {
  id: 'ingestOverland',
  ...common,
  summary: 'Takes a batch of Overland; success means durable, or never to be sent again',
  query: TrackerParameters,
  bodyKind: 'raw',
  sent: { 'application/json': OverlandBatch, 'application/x-www-form-urlencoded': TrackerParameters },
  data: IngestAnswer,
})

export const overlandQueryEndpoint = endpoint('GET /api/event/ingest/:key/overland', {
  id: 'ingestOverlandQuery',
  ...common,
  summary: 'One position in the query, for other senders than Overland',
  query: TrackerParameters,
  data: IngestAnswer,
})

export const traccarEndpoint = endpoint('POST /api/event/ingest/:key/traccar', {
  id: 'ingestTraccar',
  ...common,
  summary: 'Takes a position of Traccar Client: in the query (8), as JSON (9) or as a form (10)',
  query: TraccarParameters,
  bodyKind: 'raw',
  sent: { 'application/json': TraccarLocation, 'application/x-www-form-urlencoded': TraccarParameters },
  data: IngestAnswer,
})

export const traccarQueryEndpoint = endpoint('GET /api/event/ingest/:key/traccar', {
  id: 'ingestTraccarQuery',
  ...common,
  summary: 'The same by GET, as old versions of Traccar Client send it',
  query: TraccarParameters,
  data: IngestAnswer,
})

export const osmandEndpoint = endpoint('GET /api/event/ingest/:key/osmand', {
  id: 'ingestOsmand',
  ...common,
  summary: 'Takes a position of OsmAnd’s online tracking',
  query: TrackerParameters,
  data: IngestAnswer,
})

export const osmandPostEndpoint = endpoint('POST /api/event/ingest/:key/osmand', {
  id: 'ingestOsmandPosted',
  ...common,
  summary: 'The same by POST, in the query, as a form or as JSON',
  query: TrackerParameters,
  bodyKind: 'raw',
  sent: { 'application/x-www-form-urlencoded': TrackerParameters },
  data: IngestAnswer,
})

export const gpsloggerEndpoint = endpoint('POST /api/event/ingest/:key/gpslogger', {
  id: 'ingestGpslogger',
  ...common,
  summary: 'Takes a position of GPSLogger’s custom URL, in the query or as a form',
  query: TrackerParameters,
  bodyKind: 'raw',
  sent: { 'application/x-www-form-urlencoded': TrackerParameters },
  data: IngestAnswer,
})

export const gpsloggerQueryEndpoint = endpoint('GET /api/event/ingest/:key/gpslogger', {
  id: 'ingestGpsloggerQuery',
  ...common,
  summary: 'The same by GET, which is GPSLogger’s default',
  query: TrackerParameters,
  data: IngestAnswer,
})

export const gpsloggerProfileEndpoint = endpoint('GET /api/event/ingest/:key/gpslogger.properties', {
  id: 'loadGpsloggerProfile',
  summary: 'The profile that GPSLogger’s set-up link loads: custom URL, 30 s, 20 m',
  params: Params,
  media: 'text/plain',
  data: z.string(),
  errors: ['not-found'],
})
