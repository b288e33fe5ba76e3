/** Bodies of tracker apps: as their sources write them, with faults at any place. */
import fc from 'fast-check'
import { FORMS, type Fix } from '#tests/tracking/tracker-bodies.ts'
import { NO_POSITIONS, REFUSED } from '#tests/tracking/tracker-oddities.ts'
import { hostileText } from './json.ts'

const fix: fc.Arbitrary<Fix> = fc.record({
  lat: fc.double({ min: -91, max: 91 }),
  lng: fc.double({ min: -181, max: 181 }),
  ms: fc.integer({ min: -1, max: 86_400 * 40 }).map((ago) => Date.now() - ago * 1_000),
  speedMs: fc.option(fc.double({ min: -2, max: 1e10, noNaN: true })),
})

const sent = fc
  .tuple(
    fc.constantFrom(
      ...Object.values(FORMS),
      ...Object.values(NO_POSITIONS),
      ...REFUSED.map(([, , form]) => form),
    ),
    fix,
  )
  .map(([form, at]) => form(at))

const parsed = (body: string | undefined): unknown => {
  try {
    return JSON.parse(body ?? 'null') as unknown
  } catch {
    return body
  }
}

/** A JSON body for an operation: of tracker apps, any app's. @param usual bodies by its schema */
export const tracker = (operation: string, usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  operation.includes('/ingest/')
    ? fc.oneof(
        usual,
        sent.map(({ body }) => parsed(body)),
      )
    : usual

const PARAMETERS = [
  'lat',
  'lon',
  'lng',
  'location',
  'valid',
  'timestamp',
  'time',
  'speed',
  'speed_ms',
  'spd',
  'spd_kph',
  'accuracy',
  'acc',
  'altitude',
  'alt',
  '__proto__',
  'constructor',
]

const parameters = fc
  .tuple(
    sent,
    fc.option(fc.tuple(fc.constantFrom(...PARAMETERS), hostileText)),
    fc.option(fc.nat(3_000), { freq: 20 }),
  )
  .map(([{ body, query }, fault, more]) => {
    const form = new URLSearchParams(query ?? (body?.startsWith('{') ? '' : body) ?? '')
    if (fault !== null) form.set(fault[0], fault[1])
    for (let i = 0; i < (more ?? 0); i++) form.append(i.toString(36), '')
    return form.toString()
  })

/** A form, with faults in its values. */
export const trackerForm: fc.Arbitrary<Buffer> = parameters.map((form) => Buffer.from(form))

/** A query of a tracker app, with faults in its values. */
export const trackerQuery: fc.Arbitrary<string> = parameters.map((query) => query.slice(0, 6_000))
