/** When the latest backup was taken. The backup command records it in the kv; nothing depends on it. */
import type { KvKeys } from '#shared/stores/kv/kv.ts'

const KEY = 'last-backup'
const KEPT_MS = 10 * 365 * 86_400_000

export const recordBackup = (kv: KvKeys, nowMs: number): Promise<void> =>
  kv.cache(KEY, String(nowMs), KEPT_MS)

/** Epoch milliseconds; null: none is known. @throws KvUnavailable */
export async function lastBackupMs(kv: KvKeys): Promise<number | null> {
  const held = await kv.cached(KEY)
  return held === null ? null : Number(held)
}
