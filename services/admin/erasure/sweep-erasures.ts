/** Looks after erasures that are under way, and after what a writer that was killed at the wrong moment has left. */
import { and, eq, gt, isNotNull } from 'drizzle-orm'
import type { ServiceContext } from '#shared/runtime/context.ts'
import { isDatabaseUnavailable } from '#shared/db/db.ts'
import { isKvUnavailable, userHash } from '#shared/kv/kv.ts'
import { errorFields } from '#shared/runtime/log.ts'
import { ObjectsUnavailable } from '#shared/objects/objects.ts'
import { CARDS, userOfCard } from '#shared/objects/pictures.ts'
import { lockPerson } from '#shared/pilgrims/person-lock.ts'
import { shareCards } from '#shared/schema/cards.ts'
import { erasing, erasures } from '#shared/schema/operations.ts'
import { pilgrims } from '#shared/schema/profiles.ts'
import { finishErasure, type Finishing } from './finish-erasure.ts'

const EVERY_MS = 3_000
const LOOK_EVERY_MS = 300_000
/** A call that its caller has given up may still take effect; an hour later none does. */
const LOOK_BACK_MS = 3_600_000

/** Does once more what any erasure has left to do. */
export async function finishErasures(context: Finishing): Promise<void> {
  const rows = await context.db.read(() => context.db.orm.select().from(erasing))
  for (const row of rows) await finishErasure(context, row)
}

/**
 * Removes what was written about people who were erased in the last hour by calls that outlived their callers: a card
 * without a row, and a place among the hidden of the live map.
 */
export async function removeLeftovers({
  db,
  kv,
  objects,
  now,
}: Pick<ServiceContext, 'db' | 'kv' | 'objects' | 'now'>): Promise<void> {
  const rows = await db.read(() =>
    db.orm
      .select({ hash: erasures.userHash })
      .from(erasures)
      .where(gt(erasures.erasedAt, new Date(now() - LOOK_BACK_MS))),
  )
  if (rows.length === 0) return
  const gone = new Set(rows.map(({ hash }) => hash))
  const isGone = (userId: string | null): userId is string => userId !== null && gone.has(userHash(userId))
  for await (const key of objects.list(CARDS)) {
    const userId = userOfCard(key)
    if (!isGone(userId)) continue
    await db.orm.transaction(async (tx) => {
      // Nobody stores a card meanwhile.
      await lockPerson(tx, userId)
      const mine = and(eq(shareCards.userId, userId), isNotNull(shareCards.etag))
      if ((await tx.select().from(shareCards).where(mine)).length === 0) await objects.delete(key)
    })
  }
  for (let partition = 0; partition < kv.partitions; partition++)
    for (const userId of (await kv.hidden(partition)).filter(isGone))
      await db.orm.transaction(async (tx) => {
        await lockPerson(tx, userId)
        const there = await tx.select().from(pilgrims).where(eq(pilgrims.userId, userId))
        if (there.length === 0) await kv.hide(userId, false)
      })
}

/** Does both from its start on, each as often as it needs. */
export function createErasureSweep(context: ServiceContext) {
  const running = new Set<Promise<void>>()
  let timers: Timer[] = []

  /** One at a time. */
  const repeated = (work: () => Promise<void>) => {
    let underWay: Promise<void> | null = null
    return () => {
      if (underWay !== null) return
      const done = work()
        .catch((error: unknown) => {
          const away =
            isKvUnavailable(error) || error instanceof ObjectsUnavailable || isDatabaseUnavailable(error)
          if (!away) context.log.error('erasures are not looked after', errorFields(error))
        })
        .finally(() => {
          underWay = null
          running.delete(done)
        })
      underWay = done
      running.add(done)
    }
  }
  const finish = repeated(() => finishErasures(context))
  const look = repeated(() => removeLeftovers(context))

  return {
    start() {
      finish()
      look()
      timers = [setInterval(finish, EVERY_MS), setInterval(look, LOOK_EVERY_MS)]
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
    },
  }
}
