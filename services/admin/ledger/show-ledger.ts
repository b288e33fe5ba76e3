/** The ledger for operators, with the times at which losses were detected. */
import { desc } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { time } from '#shared/contracts/fields.ts'
import type { Ledger } from '#shared/contracts/ledger.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { ledgerLosses } from '#shared/stores/schema/tables.ts'

const LOSSES_SHOWN = 100

export async function showLedger({ db, kv, now }: ServiceContext): Promise<Ledger> {
  const { deadLetter, inFlight, ...ledger } = await readLedger(db, kv)
  const losses = await db.read(() =>
    db.orm.select().from(ledgerLosses).orderBy(desc(ledgerLosses.id)).limit(LOSSES_SHOWN),
  )
  return {
    ...ledger,
    dead_letter: deadLetter,
    in_flight: inFlight,
    losses: losses.map(({ at, partition, points }) => ({
      noticed_at: time(at),
      partition,
      points,
    })),
    as_of: time(now()),
  }
}
