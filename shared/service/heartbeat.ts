/**
 * Heartbeats: each process reports to the kv every few seconds which services it runs, so that operators see when a
 * service or a replica is gone. Nothing depends on them.
 */
import { isRecent, type MachineClock } from '#shared/runtime/clock.ts'
import { hostname } from 'node:os'
import type { KvKeys, KvServer } from '#shared/stores/kv/kv.ts'

const EVERY_MS = 5_000
export const SILENT_MS = 20_000

/** Whether a report is of now. @param kvMs the kv's clock, by which reports are dated, epoch milliseconds */
export const isReporting = (reportedMs: number, kvMs: number): boolean =>
  isRecent(reportedMs, kvMs, SILENT_MS)
/** The last report of a service stays readable for so long, and the list of its processes. */
const KEPT_MS = 7 * 86_400_000
/** A process that died is reported as silent for this long; then it counts as removed. */
const REMOVED_MS = 3_600_000

const keyOf = (service: string): string => `heartbeat:${service}`
/** How far a process's clock is ahead of the kv's. */
const clockKeyOf = (process: string): string => `clock:${process}`
const processKeyOf = (service: string, process: string): string => `heartbeat:${service}:${process}`
/** Names of the processes of a service, as JSON. */
const listKeyOf = (service: string): string => `processes:${service}`

/** Reports of a service's processes. Times are by the kv's clock, because those of the processes may be wrong. */
export interface Beats {
  readonly latestMs: number | null
  /** Latest report of each process that was not stopped, epoch milliseconds. */
  readonly processesMs: readonly number[]
}

async function readNames(kv: KvKeys, service: string): Promise<string[]> {
  return JSON.parse((await kv.cached(listKeyOf(service))) ?? '[]') as string[]
}

/** Adds a process to the list. If two are added at the same moment, one is missing until its next report. */
async function list(kv: KvKeys, service: string, process: string): Promise<void> {
  const names = await readNames(kv, service)
  if (names.includes(process)) return
  const known = await Promise.all(names.map((name) => kv.cached(processKeyOf(service, name))))
  const alive = names.filter((_, i) => known[i] != null)
  await kv.cache(listKeyOf(service), JSON.stringify([...alive, process]), KEPT_MS)
}

/**
 * Starts the reports of a process.
 * @param port identifies the process together with the host name, so a restarted process replaces its old entry
 * @returns a function that stops the reports and removes the process from the list
 */
export function startHeartbeat(
  { kv, now }: { readonly kv: KvKeys & KvServer; readonly now: MachineClock },
  services: readonly string[],
  port: number,
): () => void {
  const process = `${hostname()}:${port}`
  let stopped = false
  const beat = async (service: string, at: string): Promise<void> => {
    await Promise.all([
      // A few bytes under fixed names: they are written even to a full Redis, so that the service does not seem silent.
      kv.cache(keyOf(service), at, KEPT_MS, true),
      kv.cache(processKeyOf(service, process), at, REMOVED_MS, true),
    ])
    if (!stopped) await list(kv, service, process)
  }
  const beatAll = async (): Promise<void> => {
    const beforeMs = now()
    const atMs = await kv.clock()
    // The lower bound: the process's clock may match any moment between the two readings.
    const aheadMs = Math.max(0, beforeMs - atMs) + Math.min(0, now() - atMs)
    await Promise.all([
      kv.cache(clockKeyOf(process), String(aheadMs), SILENT_MS),
      ...services.map((service) => beat(service, String(atMs))),
    ])
  }
  // An outage of the kv is logged by its driver, and the next report repairs the gap.
  const report = (): void => void beatAll().catch(() => undefined)
  report()
  const timer = setInterval(report, EVERY_MS)
  return () => {
    stopped = true
    clearInterval(timer)
    const keys = [clockKeyOf(process), ...services.map((service) => processKeyOf(service, process))]
    for (const key of keys) kv.forget(key).catch(() => undefined)
  }
}

async function readBeats(kv: KvKeys, service: string): Promise<Beats> {
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
export async function readHeartbeats(kv: KvKeys, services: readonly string[]): Promise<Map<string, Beats>> {
  const beats = await Promise.all(services.map((service) => readBeats(kv, service)))
  return new Map(services.map((service, i) => [service, beats[i]!]))
}

interface ProcessClock {
  readonly process: string
  readonly services: readonly string[]
  /** Minimum by which it is ahead of the kv's clock; negative: behind. Milliseconds. */
  readonly aheadMs: number
}

/**
 * The clocks of the processes that currently report.
 * @throws KvUnavailable
 */
export async function readClocks(kv: KvKeys, services: readonly string[]): Promise<ProcessClock[]> {
  const servicesOf = new Map<string, string[]>()
  const names = await Promise.all(services.map((service) => readNames(kv, service)))
  for (const [i, service] of services.entries())
    for (const process of names[i]!) servicesOf.getOrInsertComputed(process, () => []).push(service)
  const clocks = await Promise.all(
    Array.from(servicesOf, async ([process, its]) => {
      const stored = await kv.cached(clockKeyOf(process))
      return stored === null ? [] : [{ process, services: its, aheadMs: Number(stored) }]
    }),
  )
  return clocks.flat()
}
