/**
 * Copies that the kv holds of Postgres: the status, the hidden pilgrims (withdrawn from the event, or without consent),
 * those whose points are refused, and the erased ones. Postgres is authoritative; differences (a commit that failed
 * after the kv was updated, an upgrade) are repaired.
 */
import { eq, or } from 'drizzle-orm'
import type { Database } from '#shared/stores/db/db.ts'
import {
  type Erased,
  isKvUnavailable,
  storedMs,
  type VersionedStatus,
  type KvErasures,
  type KvKeys,
  type KvPresence,
  type KvStatus,
} from '#shared/stores/kv/kv.ts'
import { erasures, pilgrims } from '#shared/stores/schema/tables.ts'
import { eachApart, type Reporting } from '#shared/stores/repeated-work.ts'
import { readStatus } from './activity-status.ts'
import { lockPerson } from './person-lock.ts'
import { photoCountKey, PHOTO_COUNTS } from './photo-count-cache.ts'
import { KNOWN_KEYS } from './tracker-keys.ts'

interface Presence {
  readonly participantStatus: string
  readonly consentWithdrawn: boolean
}

/** Copies a pilgrim's presence to the kv. Without a row the pilgrim counts as visible. @throws KvUnavailable */
const copyPresence = (kv: KvPresence, userId: string, row: Presence | undefined): Promise<void> =>
  kv.hide(userId, row !== undefined && isHidden(row), row?.consentWithdrawn)

const isHidden = ({ participantStatus, consentWithdrawn }: Presence): boolean =>
  participantStatus === 'withdrawn' || consentWithdrawn

/**
 * Copies a pilgrim's presence to the kv, and drops the cached count of photos, which depends on it. Call it last in the transaction that changes the row: the row's lock keeps
 * concurrent changes in order, and an erasure after them. If the kv is down, nothing is stored, because the map would
 * go on to show a pilgrim who has withdrawn. A change that affects no visibility does not need the kv.
 * @throws KvUnavailable
 */
export async function updateLiveMapPresence(
  kv: KvPresence & Pick<KvKeys, 'forget'>,
  userId: string,
  before: Presence,
  after: Presence,
): Promise<void> {
  try {
    await copyPresence(kv, userId, after)
    if (isHidden(before) !== isHidden(after)) await kv.forget(photoCountKey(userId))
  } catch (error) {
    const isSame = isHidden(before) === isHidden(after) && before.consentWithdrawn === after.consentWithdrawn
    if (!isKvUnavailable(error) || !isSame) throw error
  }
}

interface Stores extends Reporting {
  readonly db: Database
  readonly kv: KvPresence & KvErasures & KvStatus
}

/** Maximum number of pilgrims to repair at a time; the next comparison repairs the others. */
const MOST_AT_ONCE = 1_000

const readHidden = (db: Database) =>
  db.read(() =>
    db.orm
      .select({ userId: pilgrims.userId, refused: pilgrims.consentWithdrawn })
      .from(pilgrims)
      .where(or(eq(pilgrims.participantStatus, 'withdrawn'), eq(pilgrims.consentWithdrawn, true))),
  )

export async function readErasures(db: Database): Promise<Erased[]> {
  const rows = await db.read(() => db.orm.select().from(erasures))
  return rows.map(({ erasedAt, ...erasure }) => ({ ...erasure, erasedMs: erasedAt.getTime() }))
}

/**
 * Copies the status from Postgres to every partition of the kv; an older version never replaces a newer one. A kv
 * that has lost its data is first refilled with the hidden and the erased pilgrims, because it admits points as soon
 * as it has a status.
 */
export async function publishStatus(db: Database, kv: Stores['kv']): Promise<VersionedStatus> {
  if ((await kv.status()) === null) await refill(db, kv)
  const status = await readStatus(db)
  await kv.setStatus(status)
  return status
}

async function refill(db: Database, kv: Stores['kv']): Promise<void> {
  for (const { userId, refused } of await readHidden(db)) await kv.hide(userId, true, refused)
  await kv.storeErasures(await readErasures(db))
}

/**
 * Repairs the copies that differ.
 * @returns the number of pilgrims whose copy differed
 * @throws KvUnavailable
 */
export async function mendKvCopies(stores: Stores): Promise<number> {
  // A kv that lost its data is refilled before it has a status (`publishStatus`).
  if ((await stores.kv.status()) === null) return 0
  let differing = 0
  await eachApart(stores, 'comparisons of the kv', [mendErasures, mendPresence], async (mend) => {
    differing += await mend(stores)
  })
  return differing
}

async function mendErasures({ db, kv }: Stores): Promise<number> {
  const stored = await readErasures(db)
  const missing = new Map<string, Erased>()
  for (let partition = 0; partition < kv.partitions; partition++) {
    const copies = new Map((await kv.erased(partition)).map((copy) => [copy.userHash, copy]))
    for (const erasure of stored) {
      const copy = copies.get(erasure.userHash)
      const isOlder =
        copy === undefined ||
        copy.generation < erasure.generation ||
        (copy.generation === erasure.generation && storedMs(copy) > storedMs(erasure))
      if (isOlder) missing.set(erasure.userHash, erasure)
    }
  }
  await kv.storeErasures([...missing.values()])
  return missing.size
}

async function mendPresence({ db, kv, ...reporting }: Stores): Promise<number> {
  const copies = new Map<string, boolean>()
  for (let partition = 0; partition < kv.partitions; partition++) {
    for (const userId of await kv.hidden(partition)) copies.set(userId, false)
    for (const userId of await kv.refused(partition)) copies.set(userId, true)
  }
  const differing: string[] = []
  for (const { userId, refused } of await readHidden(db)) {
    if (copies.get(userId) !== refused) differing.push(userId)
    copies.delete(userId)
  }
  differing.push(...copies.keys())
  let mended = 0
  await eachApart(reporting, 'copies of presence', differing, async (userId) => {
    if (mended === MOST_AT_ONCE) return
    await db.transaction(async (tx) => {
      // Waits for a change that is already in the kv but not yet committed.
      await lockPerson(tx, userId)
      const [row] = await tx.orm.select().from(pilgrims).where(eq(pilgrims.userId, userId))
      await copyPresence(kv, userId, row)
    })
    mended++
  })
  return differing.length
}

/** Deletes caches of the kv that only save queries: known tracker keys and photo counts. @throws KvUnavailable */
export async function dropSparedQueries(kv: KvKeys): Promise<void> {
  for (const prefix of [KNOWN_KEYS, PHOTO_COUNTS]) await kv.forgetAll(prefix)
}
