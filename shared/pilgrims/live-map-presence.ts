/** Presence on the live map: pilgrims who withdrew from the event, or withdrew their consent, are hidden. */
import { isKvUnavailable, type Kv } from '#shared/stores/kv/kv.ts'

/** The columns of a pilgrim's row that hide them. */
interface Presence {
  readonly participantStatus: string
  readonly consentWithdrawn: boolean
}

/** Copies a pilgrim's presence to the kv; of nobody, if there is no such pilgrim. @throws KvUnavailable */
export const copyPresence = (kv: Kv, userId: string, row: Presence | undefined): Promise<void> =>
  kv.hide(userId, row !== undefined && isHidden(row), row?.consentWithdrawn)

const isHidden = ({ participantStatus, consentWithdrawn }: Presence): boolean =>
  participantStatus === 'withdrawn' || consentWithdrawn

/**
 * Copies a pilgrim's presence to the kv. Call it last in the transaction that changes the row: the row's lock brings
 * concurrent changes to the kv in order, and an erasure after them; and without the kv nothing is stored, because the
 * map would go on to show a pilgrim who has withdrawn. A change that hides and shows nobody does not need the kv.
 * @throws KvUnavailable
 */
export async function updateLiveMapPresence(
  kv: Kv,
  userId: string,
  before: Presence,
  after: Presence,
): Promise<void> {
  try {
    await copyPresence(kv, userId, after)
  } catch (error) {
    const isSame = isHidden(before) === isHidden(after) && before.consentWithdrawn === after.consentWithdrawn
    if (!isKvUnavailable(error) || !isSame) throw error
  }
}
