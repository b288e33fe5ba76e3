/**
 * Records SOS presses. A press must not be lost, so it bypasses the buffer and the event's status: it is stored in
 * Postgres, or in the spool while the database is down. That includes a press of a tracker whose key no store can look
 * up at the time.
 */
import { and, arrayContains, desc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import type { EmergencyRequest, EmergencyState, SosPress } from '#shared/contracts/emergencies.ts'
import type { Event } from '#shared/contracts/events.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import { ensurePilgrim, lockPilgrim } from '#shared/pilgrims/person-lock.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { notFound } from '#shared/runtime/refusal.ts'
import { isPlace } from '#shared/core/rules/geo.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import type { Tx } from '#shared/stores/db/db.ts'
import type { Objects } from '#shared/stores/objects/objects.ts'
import { createSpool, type Spool, SOS_PRESSES } from '#shared/stores/objects/spool.ts'
import { emergencies, trackers } from '#shared/stores/schema/tables.ts'

/** Presses by which an emergency recognises a repeated request. */
const MAX_KNOWN = 100

type Row = typeof emergencies.$inferSelect

/** SOS presses on their way to the database. `keep` returns the emergency of the last press. */
export type PressSpool = Spool<SosPress, Row | null>

/** @param disk stores presses while neither the database nor the object store does */
export const createPressSpool = (context: ServiceContext, disk?: Promise<Objects>): PressSpool =>
  createSpool(context, SOS_PRESSES, {
    ...(disk && { disk }),
    async store(presses) {
      let row: Row | null = null
      for (const press of presses) row = await recordPress(context, await withUser(context, press))
      return row
    },
    async setAside() {
      // It stays in place for an operator to examine.
      throw new LoggableError('not a press of an SOS button')
    },
  })

type KnownPress = SosPress & { readonly userId: string }

/** The press with the pilgrim of its key. @throws Refusal 404 for a key that is not valid */
async function withUser({ db }: ServiceContext, press: SosPress): Promise<KnownPress> {
  if (press.userId !== null) return { ...press, userId: press.userId }
  const [tracker] = await db.read(() =>
    db.orm
      .select({ userId: trackers.userId })
      .from(trackers)
      .where(eq(trackers.keyHash, press.keyHash ?? '')),
  )
  if (tracker === undefined) throw notFound('The key of this SOS is not valid, or was revoked.')
  return { ...press, userId: tracker.userId }
}

/** Safe to repeat. @throws Refusal 410 for an erased pilgrim, including one erased since the press arrived */
async function recordPress(context: ServiceContext, press: KnownPress): Promise<Row> {
  const { db, outbox } = context
  const raised: Event[] = []
  const row = await db.transaction(async (tx) => {
    await ensurePilgrim(tx, press.userId, press.receivedMs)
    // Serializes the presses of a pilgrim.
    await lockPilgrim(tx, press.userId)
    const repeated = await findRepeated(tx, press)
    if (repeated !== undefined) return repeated
    const last = await lockLatest(tx, press, context.now())
    if (last?.takes === true) return addPress(tx, last, press)
    const fresh = await insertEmergency(tx, press)
    raised.push(await outbox.add(tx, 'event.tracking.emergency.raised', { emergency_id: fresh.id }))
    return fresh
  })
  for (const event of raised) void outbox.ring(event)
  return row
}

/** The device repeats a press with the same time until the service answers. */
const identityOf = ({ source, sentMs }: SosPress): string => `${source}-${sentMs}`

/** The emergency that already has this press. */
async function findRepeated(tx: Tx, press: KnownPress): Promise<Row | undefined> {
  const { userId, source, sentAt, knownPresses } = emergencies
  const [row] = await tx.orm
    .select()
    .from(emergencies)
    .where(
      and(
        eq(userId, press.userId),
        or(
          arrayContains(knownPresses, [identityOf(press)]),
          // Rows of releases before 1.9.0 have only the latest press.
          and(eq(source, press.source), eq(sentAt, new Date(press.sentMs))),
        ),
      ),
    )
    .orderBy(desc(emergencies.raisedAt))
    .limit(1)
  return row
}

/**
 * The latest emergency of a pilgrim, locked against a confirmation. It takes a press that was made before the
 * confirmation, by the clock of the database: a device's clock may be wrong. Only the app reports how long its press
 * has waited.
 */
async function lockLatest(
  tx: Tx,
  press: KnownPress,
  nowMs: number,
): Promise<(Row & { readonly takes: boolean }) | undefined> {
  const { confirmedAt } = emergencies
  const ageMs = nowMs - (press.source === 'app' ? press.pressedMs : press.receivedMs)
  const [row] = await tx.orm
    .select({
      ...getTableColumns(emergencies),
      takes: sql<boolean>`${confirmedAt} IS NULL OR now() - ${ageMs / 1_000}::float8 * interval '1 second' < ${confirmedAt}`,
    })
    .from(emergencies)
    .where(eq(emergencies.userId, press.userId))
    .orderBy(desc(emergencies.raisedAt))
    .limit(1)
    .for('update')
  return row
}

const placeFields = ({ place }: SosPress) =>
  place === null
    ? null
    : { lat: place.lat, lng: place.lng, accuracy: place.accuracy, placeAt: new Date(place.atMs) }

async function insertEmergency(tx: Tx, press: KnownPress): Promise<Row> {
  const pressedAt = new Date(press.pressedMs)
  const [row] = await tx.orm
    .insert(emergencies)
    .values({
      id: crypto.randomUUID(),
      userId: press.userId,
      source: press.source,
      sentAt: new Date(press.sentMs),
      firstPressAt: pressedAt,
      lastPressAt: pressedAt,
      presses: 1,
      knownPresses: [identityOf(press)],
      ...placeFields(press),
      raisedAt: sql`now()`,
      nextAlertAt: sql`now()`,
    })
    .returning()
  return row!
}

async function addPress(tx: Tx, last: Row, press: SosPress): Promise<Row> {
  const pressedAt = new Date(press.pressedMs)
  const isLatest = pressedAt >= last.lastPressAt
  const place = placeFields(press)
  const isNewer = place !== null && (last.placeAt === null || place.placeAt >= last.placeAt)
  const [row] = await tx.orm
    .update(emergencies)
    .set({
      presses: last.presses + 1,
      knownPresses: [...last.knownPresses, identityOf(press)].slice(-MAX_KNOWN),
      firstPressAt: pressedAt < last.firstPressAt ? pressedAt : last.firstPressAt,
      ...(isLatest && { lastPressAt: pressedAt, source: press.source, sentAt: new Date(press.sentMs) }),
      ...(isNewer && place),
    })
    .where(eq(emergencies.id, last.id))
    .returning()
  return row!
}

/**
 * The app's own button.
 * @throws Refusal 410 for an erased pilgrim, 503 when the press cannot be stored
 */
export async function raiseEmergency(
  spool: Pick<PressSpool, 'keep'>,
  request: EmergencyRequest,
  receivedMs: number,
): Promise<EmergencyState> {
  const { user_id: userId, pressed_at: sentMs, lat, lng } = request
  const pressedMs = receivedMs - (request.waited_ms ?? 0)
  const aheadMs = sentMs - pressedMs
  const place =
    lat == null || lng == null || !isPlace({ lat, lng })
      ? null
      : {
          lat,
          lng,
          accuracy: request.accuracy ?? null,
          // The excess of the phone's clock over ours is subtracted from its other times.
          atMs: Math.min((request.position_at ?? sentMs) - aheadMs, receivedMs),
        }
  const row = await spool.keep([{ userId, source: 'app', sentMs, pressedMs, receivedMs, place }])
  return {
    userId,
    pressed_at: time(sentMs),
    seen_at: timeOrNull(row?.confirmedAt),
    alerted: row?.reached == null ? null : row.reached > 0,
  }
}
