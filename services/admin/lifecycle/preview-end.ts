/** What ending the event would do now. It changes nothing. */
import { time } from '#shared/contracts/fields.ts'
import type { EndPreview } from '#shared/contracts/operations.ts'
import { unavailable } from '#shared/http/errors.ts'
import { isKvUnavailable } from '#shared/kv/kv.ts'
import { readLedger } from '#shared/ledger/ledger.ts'
import { readStatus } from '#shared/lifecycle/activity-status.ts'
import { countCards } from '#shared/pilgrims/cards-at-end.ts'
import type { ServiceContext } from '#shared/runtime/context.ts'

/** @throws Refusal 503 when the buffer can not be read */
export async function previewEnd({ db, kv, now }: ServiceContext): Promise<EndPreview> {
  try {
    const [{ status }, ledger, pilgrims, cards] = await Promise.all([
      readStatus(db),
      readLedger(db, kv),
      kv.bufferSize(),
      countCards({ db }),
    ])
    return {
      status,
      points_waiting: ledger.pending,
      pilgrims_waiting: pilgrims,
      points_journaled: ledger.journaled,
      cards,
      as_of: time(now()),
    }
  } catch (error) {
    if (!isKvUnavailable(error)) throw error
    throw unavailable(
      'The buffer cannot be read, so it is not known what waits. Please try again in a moment.',
    )
  }
}
