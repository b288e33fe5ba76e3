/** The routes of tracker apps. */
import type { MachineClock } from '#shared/runtime/clock.ts'
import {
  gpsloggerEndpoint,
  gpsloggerProfileEndpoint,
  gpsloggerQueryEndpoint,
  osmandEndpoint,
  osmandPostEndpoint,
  overlandEndpoint,
  overlandQueryEndpoint,
  owntracksEndpoint,
  owntracksQueryEndpoint,
  traccarEndpoint,
  traccarQueryEndpoint,
} from '#shared/contracts/ingest.ts'
import { type Router } from '#shared/service/http/router.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { gpsLoggerProfile, ingestUrl } from '../tracker-apps/set-up-links.ts'
import {
  readOverland,
  readOwnTracks,
  readRequest,
  IS_FORGETFUL,
  type Received,
  type SpeedUnit,
  UNREADABLE,
} from './tracker-formats.ts'
import type { Buffer } from '#shared/points/buffer.ts'
import { type SyncRules, syncTrack } from '#shared/points/sync-track.ts'
import { TRACKER_KEY, type TrackerApp, type Trouble, TROUBLES } from '#shared/contracts/trackers.ts'
import { type KeyUse, trackerKeyHash } from '#shared/pilgrims/tracker-keys.ts'
import type { SosPress } from '#shared/contracts/emergencies.ts'
import type { PressSpool } from '../emergencies/record-press.ts'
import { isObject, type Parameters } from './sent-fields.ts'
import { correctTimes, type NoteAhead } from './sent-times.ts'
import { sosPresses } from './sos-presses.ts'
import { notFound, Refusal, unavailable } from '#shared/runtime/refusal.ts'

export function serveIngest({ serve }: Router, context: ServiceContext, taking: Ingest): void {
  const entrances = [
    ['owntracks', [owntracksEndpoint, owntracksQueryEndpoint], readOwnTracks],
    ['overland', [overlandEndpoint, overlandQueryEndpoint], readOverland],
    ['traccar', [traccarEndpoint, traccarQueryEndpoint], readerOf('traccar', 'knots')],
    ['osmand', [osmandEndpoint, osmandPostEndpoint], readerOf('osmand', 'metresASecond')],
    ['gpslogger', [gpsloggerEndpoint, gpsloggerQueryEndpoint], readerOf('gpslogger', 'metresASecond')],
  ] as const
  for (const [app, endpoints, read] of entrances)
    for (const endpoint of endpoints)
      serve(endpoint, ({ params, query, bytes, request }) =>
        ingest(taking, app, params.key, () => read(bytes, query), request),
      )
  serve(gpsloggerProfileEndpoint, async ({ params: { key } }) => {
    await expectKey(taking, key)
    return new Response(gpsLoggerProfile(ingestUrl(context.config.publicUrl, key, 'gpslogger')), {
      headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
    })
  })
}

const readerOf =
  (app: TrackerApp, unit: SpeedUnit) =>
  (bytes: Uint8Array, query: Parameters): Received =>
    readRequest(app, unit, query, bytes)

// Accepts the requests of tracker apps. The answer tells the app in its own protocol whether to keep the points:
// success when they are durable or will never be accepted, 503 when they are to be sent again.

/** OwnTracks expects a list of messages for the phone; Overland keeps its batch without this result. */
const TAKEN = '{"result":"ok"}'
const TAKEN_BY: Partial<Record<TrackerApp, string>> = { owntracks: '[]' }

const unknownKey = () =>
  notFound(
    'The key in this address is not valid, or was revoked. Make a new tracker, and set the app up with its link.',
  )

interface Ingest {
  /** Admits the points of the tracker with this key's hash. */
  readonly admit: (keyHash: string) => Buffer['admitDurably']
  readonly presses: Pick<PressSpool, 'keep'>
  readonly findKey: (key: string) => Promise<string | null>
  /** Called after each request with a key. */
  readonly noteUse: (keyHash: string, use: KeyUse) => void
  readonly noteAhead: NoteAhead
  readonly rules: SyncRules
  /** Whether others may know this user id, so that a stranger may have withdrawn its consent. */
  readonly isClaim: (userId: string) => boolean
  readonly now: MachineClock
  /** @throws Refusal 429 when the address has sent too many presses with keys that no store could look up */
  readonly chargeAlarm: (request: Request) => void
}

/** The user id of a key. @throws Refusal 404 for an invalid key, 503 when that cannot be determined */
async function expectKey({ findKey }: Pick<Ingest, 'findKey'>, key: string): Promise<string> {
  const userId = await findKey(key)
  if (userId === null) throw unknownKey()
  return userId
}

/**
 * Handles a request.
 * @param read reads the app's format. @throws Refusal 400 if it cannot
 * @throws Refusal 404 for an invalid key, 413 for too many points; 403 paused, 429 and 503, all of which the router
 *   answers with 503. 503 also when an SOS cannot be stored; an SOS is stored in every state of the event
 */
export async function ingest(
  taking: Ingest,
  app: TrackerApp,
  key: string,
  read: () => Received,
  request: Request,
): Promise<Response> {
  const { admit, presses, findKey, noteUse, noteAhead, rules, isClaim, now } = taking
  // Before the key is looked up: an erasure that later revokes the key drops the points of this request.
  const receivedMs = now()
  const userId = await expectKey({ findKey }, key).catch(async (error: unknown) => {
    if (isRefusal(error, 'unavailable'))
      await keepOfUnknown(taking, app, key, readOrCount(read), receivedMs, request)
    throw error
  })
  const keyHash = trackerKeyHash(key)
  const received = readOrCount(read)
  const unkept = await keepSos(presses, sosPresses({ userId }, app, received.sos ?? [], receivedMs, rules))
  const { refused } = received
  for (const reason of refused) rules.count(`rejected:${reason}`, 1)
  const reasons: string[] = [...refused]
  let isTaken = false
  if (received.points.length > 0)
    try {
      const sent = timed(app, received, receivedMs)
      const { points, resend, isAhead } = await correctTimes(app, sent, receivedMs, rules, (ahead) =>
        noteAhead(keyHash, ahead),
      )
      if (isAhead) reasons.push('in-the-future')
      // One submission, whatever its size: if it were split, some parts could fail under a single answer.
      const { accepted, duplicates, rejected } = await syncTrack(
        admit(keyHash),
        { user_id: userId, points: [...points] },
        receivedMs,
        rules,
        'ingest',
      )
      reasons.push(...rejected.map(({ reason }) => reason))
      isTaken = accepted + duplicates > 0
      if (resend)
        throw unavailable(
          'Positions lie in the future: the clock of the phone or of the service is wrong.',
          60,
        )
    } catch (error) {
      if (isRefusal(error, 'forbidden') && isClaim(userId))
        throw unavailable(
          'The consent was taken back. The app keeps its points until it is given again.',
          300,
        )
      if (!isForEver(error)) {
        if (IS_FORGETFUL.has(app)) reasons.push('forgotten')
        throw error
      }
    } finally {
      noteUse(keyHash, { isTaken, refused: troubleOf(reasons) })
    }
  else noteUse(keyHash, { isTaken, refused: troubleOf(reasons) })
  if (unkept !== null) throw unkept
  return new Response(TAKEN_BY[app] ?? TAKEN, {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  })
}

/** Stores an SOS whose key no store can look up now: apps send it once. Its points are sent again. */
async function keepOfUnknown(
  { presses, rules, chargeAlarm }: Ingest,
  app: TrackerApp,
  key: string,
  { sos = [] }: Received,
  receivedMs: number,
  request: Request,
): Promise<void> {
  if (sos.length === 0 || !TRACKER_KEY.test(key)) return
  chargeAlarm(request)
  await presses.keep(sosPresses({ userId: null, keyHash: trackerKeyHash(key) }, app, sos, receivedMs, rules))
}

/**
 * @returns why an SOS must be sent again, after the points of its request were accepted. Null: it is stored, or there
 *   is none
 */
async function keepSos(presses: Ingest['presses'], sent: readonly SosPress[]): Promise<Refusal | null> {
  if (sent.length === 0) return null
  try {
    await presses.keep(sent)
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return isForEver(error) ? null : error
  }
}

/**
 * Apps that send one position in a query or a form. Without a time it counts at its receipt, as in Traccar's server; so
 * does such a position from any other app.
 */
const AT_RECEIPT: ReadonlySet<TrackerApp> = new Set(['traccar', 'osmand', 'gpslogger'])

const timed = (app: TrackerApp, { points, atReceipt = false }: Received, receivedMs: number): unknown[] =>
  points.map((point) =>
    (atReceipt || AT_RECEIPT.has(app)) && isObject(point) && (point.timestamp ?? null) === null
      ? { ...point, timestamp: receivedMs }
      : point,
  )

/**
 * The problem in a request that its pilgrim should know of. Old places are normal for some apps, so they are no
 * problem.
 */
function troubleOf(reasons: readonly string[]): Trouble | null {
  const known = TROUBLES.find((trouble) => reasons.includes(trouble))
  return known ?? (reasons.some((reason) => reason !== 'old-place') ? 'other' : null)
}

/** A body in the wrong format would be wrong again. */
function readOrCount(read: () => Received): Received {
  try {
    return read()
  } catch (error) {
    if (error instanceof Refusal && error.httpStatus === 400) return UNREADABLE
    throw error
  }
}

const isRefusal = (error: unknown, ...reasons: Refusal['reason'][]): boolean =>
  error instanceof Refusal && reasons.includes(error.reason)

/**
 * After the end, of an erased person or without consent, nothing is accepted any more. The points count under that
 * reason.
 */
const isForEver = (error: unknown): boolean => isRefusal(error, 'ended', 'erased', 'forbidden')
