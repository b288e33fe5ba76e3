/** Repeats unfinished erasures, and removes what late writers have left behind. */
import { eq, gt } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { userHash } from '#shared/stores/kv/kv.ts'
import { eachApart, repeated } from '#shared/stores/repeated-work.ts'
import { cardKey, CARDS, namelessCardKey, userOfCard } from '#shared/stores/objects/pictures.ts'
import { lockPerson } from '#shared/pilgrims/person-lock.ts'
import { shareCards, erasing, erasures } from '#shared/stores/schema/tables.ts'
import { finishErasure, type Finishing } from './erasure-steps.ts'

const EVERY_MS = 3_000
const LEFTOVERS_EVERY_MS = 300_000
/** A call whose caller has given up may still take effect for up to an hour. */
const LOOK_BACK_MS = 3_600_000

/** Repeats the remaining parts of all erasures. */
export async function finishErasures(context: Finishing): Promise<void> {
  const rows = await context.db.read(() => context.db.orm.select().from(erasing))
  for (const row of rows) await finishErasure(context, row)
}

/** Removes cards without a row, which late calls have stored, of people who were erased in the last hour. */
export async function removeLeftovers({
  db,
  objects,
  now,
  ...reporting
}: Pick<ServiceContext, 'db' | 'objects' | 'now' | 'log' | 'metrics'>): Promise<void> {
  const rows = await db.read(() =>
    db.orm
      .select({ hash: erasures.userHash })
      .from(erasures)
      .where(gt(erasures.erasedAt, new Date(now() - LOOK_BACK_MS))),
  )
  if (rows.length === 0) return
  const gone = new Set(rows.map(({ hash }) => hash))
  const isGone = (userId: string | null): userId is string => userId !== null && gone.has(userHash(userId))
  await eachApart(reporting, 'cards of erased people', objects.list(CARDS), async (key) => {
    const userId = userOfCard(key)
    if (!isGone(userId)) return
    await db.orm.transaction(async (tx) => {
      // The lock prevents that a card is stored meanwhile.
      await lockPerson(tx, userId)
      const [row] = await tx.select().from(shareCards).where(eq(shareCards.userId, userId))
      const etags = new Map([
        [cardKey(userId), row?.etag],
        [namelessCardKey(userId), row?.namelessEtag],
      ])
      if ((etags.get(key) ?? null) === null) await objects.delete(key)
    })
  })
}

/** Runs both tasks periodically from its start. */
export function createErasureSweep(context: ServiceContext) {
  const { db, log, metrics } = context
  metrics.gauge('event_erasures_remaining', () => db.orm.$count(erasing))
  const failure = 'the sweep of erasures failed'
  const finish = repeated(log, failure, EVERY_MS, () => finishErasures(context))
  const removeLate = repeated(log, failure, LEFTOVERS_EVERY_MS, () => removeLeftovers(context))
  return {
    start() {
      finish.start()
      removeLate.start()
    },
    async stop() {
      await Promise.all([finish.stop(), removeLate.stop()])
    },
  }
}
