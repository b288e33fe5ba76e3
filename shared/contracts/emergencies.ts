/** Emergencies: the SOS button of the app and of tracker apps, and what operators read and confirm. */
import { z } from 'zod'
import { endpointsOf } from './endpoint.ts'
import { EXAMPLE_DAY, exampleText, Instant, Latitude, Longitude, Measure, Time, UserId } from './fields.ts'
import { TrackerApp } from './trackers.ts'

export const EmergencySource = z.enum(['app', ...TrackerApp.options])
export type EmergencySource = z.infer<typeof EmergencySource>

/** A phone without a connection may store a press for at most 30 days. */
const MAX_WAIT_MS = 30 * 86_400_000

const PhoneTime = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a zone' })
  .meta({ examples: [`${EXAMPLE_DAY}T01:30:00.000Z`] })

export const EmergencyRequest = z
  .object({
    user_id: UserId,
    pressed_at: PhoneTime.pipe(Instant).describe(
      'When the button was pressed, by the clock of the phone. It identifies the press: the same one again changes nothing, and answers the state',
    ),
    waited_ms: z
      .int()
      .min(0)
      .max(MAX_WAIT_MS)
      .nullish()
      .describe('How long the press has waited on the phone, so that a wrong clock does no harm'),
    lat: Latitude.nullish(),
    lng: Longitude.nullish(),
    accuracy: Measure.nullish().describe('metres'),
    position_at: Instant.nullish().describe('Time of the position, by the clock of the phone'),
  })
  .refine(({ lat, lng }) => (lat == null) === (lng == null), { error: 'give both lat and lng, or neither' })
export type EmergencyRequest = z.infer<typeof EmergencyRequest>

/** A press as stored. Times are epoch milliseconds. */
export const SosPress = z.object({
  userId: UserId.nullable().describe('null: no store could tell whose the key is'),
  keyHash: z.string().optional().describe('Of a tracker whose pilgrim is not known'),
  source: EmergencySource,
  sentMs: z.number().describe('By the clock of the device: identifies the press'),
  pressedMs: z.number(),
  receivedMs: z.number(),
  place: z
    .object({ lat: Latitude, lng: Longitude, accuracy: z.number().nullable(), atMs: z.number() })
    .nullable(),
})
export type SosPress = z.infer<typeof SosPress>

export const EmergencyState = z.object({
  userId: UserId,
  pressed_at: Time.describe('As the request has it'),
  seen_at: Time.nullable().describe('When an operator confirmed the emergency; null: nobody has yet'),
  alerted: z
    .boolean()
    .nullable()
    .describe(
      'Whether an alert goes to anybody; false: only an open console shows the emergency; null: not known yet',
    ),
})
export type EmergencyState = z.infer<typeof EmergencyState>

export const raiseEmergencyEndpoint = endpointsOf('tracking')('POST /api/event/emergency', {
  id: 'raiseEmergency',
  summary:
    'A pilgrim presses SOS: alerts owners and managers. Taken in every state of the event; repeated presses are one emergency. Success means durable',
  caller: 'body',
  limit: 'user-write',
  isAlarm: () => true,
  body: EmergencyRequest,
  data: EmergencyState,
  errors: ['erased', 'unavailable'],
})

export const EmergencyPlace = z.object({
  lat: Latitude,
  lng: Longitude,
  accuracy: z.number().nullable().describe('metres'),
  at: Time,
  of_press: z.boolean().describe('false: no press had a place, so this is the last one that is known'),
})
export type EmergencyPlace = z.infer<typeof EmergencyPlace>

export const Emergency = z.object({
  id: exampleText('6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c'),
  userId: UserId,
  display_name: z.string().nullable(),
  has_points: z
    .boolean()
    .describe(
      'Whether points of the pilgrim are stored; an invented id has none. Those with points come first',
    ),
  phone: z.string().nullable().describe('null also once it is confirmed'),
  source: EmergencySource.describe('app, or the tracker app of the latest press'),
  first_press_at: Time,
  last_press_at: Time,
  presses: z.int(),
  place: EmergencyPlace.nullable(),
  confirmed_at: Time.nullable(),
  confirmed_by: z.string().nullable().describe('Name of the token'),
})
export type Emergency = z.infer<typeof Emergency>

export const EmergencyList = z.object({
  items: z.array(Emergency),
  unconfirmed: z.int().describe('How many nobody has confirmed, also those that are not listed'),
})
export type EmergencyList = z.infer<typeof EmergencyList>

const adminEndpoint = endpointsOf('admin')

export const emergenciesEndpoint = adminEndpoint('GET /api/event/admin/emergencies', {
  id: 'listEmergencies',
  summary:
    'Emergencies that nobody has confirmed, latest first, then those confirmed within a day; 100 at most',
  access: 'manager',
  data: EmergencyList,
})

export const confirmEmergencyEndpoint = adminEndpoint('POST /api/event/admin/emergencies/:id/confirm', {
  id: 'confirmEmergency',
  summary:
    'An operator takes care of an emergency: it leaves the console, and the pilgrim’s app shows it as seen',
  access: 'manager',
  params: z.object({ id: z.uuid().meta({ examples: ['6f1c2b9a-4d3e-4f5a-8b7c-9d0e1f2a3b4c'] }) }),
  data: Emergency,
  errors: ['not-found'],
})
