/**
 * Heartbeats: each process reports to the kv every few seconds which services it runs, so that operators see a service
 * that is gone. Nothing depends on them.
 */
import type { Kv } from '#shared/kv/kv.ts'

const EVERY_MS = 5_000
/** A service is silent when none of its processes has reported for so long. */
export const SILENT_MS = 20_000
/** How long the last report of a service stays readable. */
const KEPT_MS = 7 * 86_400_000

const keyOf = (service: string): string => `heartbeat:${service}`

/** Starts the reports of a process. @returns a function that stops them */
export function startHeartbeat(
  { kv, now }: { readonly kv: Kv; readonly now: () => number },
  services: readonly string[],
): () => void {
  const beat = (): void => {
    // An outage of the kv is logged by its driver, and the next report repairs the gap.
    for (const service of services) kv.cache(keyOf(service), String(now()), KEPT_MS).catch(() => undefined)
  }
  beat()
  const timer = setInterval(beat, EVERY_MS)
  return () => clearInterval(timer)
}

/**
 * Time of the latest report of each service, epoch milliseconds; null: none.
 * @throws KvUnavailable
 */
export async function readHeartbeats(
  kv: Kv,
  services: readonly string[],
): Promise<Map<string, number | null>> {
  const beats = await Promise.all(services.map((service) => kv.cached(keyOf(service))))
  return new Map(services.map((service, i) => [service, beats[i] == null ? null : Number(beats[i])]))
}
