/**
 * Heartbeats: each process reports to the kv every few seconds which services it runs, so that operators see a service
 * or a replica that is gone. Nothing depends on them.
 */
import { hostname } from 'node:os'
import type { Kv } from '#shared/kv/kv.ts'

const EVERY_MS = 5_000
/** A process is silent when it has not reported for so long. */
export const SILENT_MS = 20_000
/** How long the last report of a service stays readable, and the list of its processes. */
const KEPT_MS = 7 * 86_400_000
/** A process that was not stopped but died is reported as silent for so long; then it counts as removed. */
export const REMOVED_MS = 3_600_000

const keyOf = (service: string): string => `heartbeat:${service}`
const processKeyOf = (service: string, process: string): string => `heartbeat:${service}:${process}`
/** Names of the processes of a service, as JSON. */
const listKeyOf = (service: string): string => `processes:${service}`

/** What is known of a service's processes. */
export interface Beats {
  /** Latest report of any process, epoch milliseconds; null: none. */
  readonly latestMs: number | null
  /** Latest report of each process that was not stopped, epoch milliseconds. */
  readonly processesMs: readonly number[]
}

async function readNames(kv: Kv, service: string): Promise<string[]> {
  return JSON.parse((await kv.cached(listKeyOf(service))) ?? '[]') as string[]
}

/** Adds a process to the list. Where two are added at the same moment, one is missing until its next report. */
async function list(kv: Kv, service: string, process: string): Promise<void> {
  const names = await readNames(kv, service)
  if (names.includes(process)) return
  const known = await Promise.all(names.map((name) => kv.cached(processKeyOf(service, name))))
  const kept = names.filter((_, i) => known[i] != null)
  await kv.cache(listKeyOf(service), JSON.stringify([...kept, process]), KEPT_MS)
}

/**
 * Starts the reports of a process.
 * @param port with the host's name it names the process, so that one that is started again replaces itself
 * @returns a function that stops them and takes the process off the list
 */
export function startHeartbeat(
  { kv, now }: { readonly kv: Kv; readonly now: () => number },
  services: readonly string[],
  port: number,
): () => void {
  const process = `${hostname()}:${port}`
  let stopped = false
  const beat = async (service: string): Promise<void> => {
    const at = String(now())
    await Promise.all([
      kv.cache(keyOf(service), at, KEPT_MS),
      kv.cache(processKeyOf(service, process), at, REMOVED_MS),
    ])
    if (!stopped) await list(kv, service, process)
  }
  const beatAll = (): void => {
    // An outage of the kv is logged by its driver, and the next report repairs the gap.
    for (const service of services) beat(service).catch(() => undefined)
  }
  beatAll()
  const timer = setInterval(beatAll, EVERY_MS)
  return () => {
    stopped = true
    clearInterval(timer)
    for (const service of services) kv.forget(processKeyOf(service, process)).catch(() => undefined)
  }
}

async function readBeats(kv: Kv, service: string): Promise<Beats> {
  const [latest, names] = await Promise.all([kv.cached(keyOf(service)), readNames(kv, service)])
  const times = await Promise.all(names.map((name) => kv.cached(processKeyOf(service, name))))
  return {
    latestMs: latest === null ? null : Number(latest),
    processesMs: times.flatMap((time) => (time === null ? [] : [Number(time)])),
  }
}

/**
 * The reports of each service.
 * @throws KvUnavailable
 */
export async function readHeartbeats(kv: Kv, services: readonly string[]): Promise<Map<string, Beats>> {
  const beats = await Promise.all(services.map((service) => readBeats(kv, service)))
  return new Map(services.map((service, i) => [service, beats[i]!]))
}
