/** Health checks. Each depends only on what it checks, and each has a timeout. */
import { count, gt, max, sum } from 'drizzle-orm'
import type { ServiceContext } from '#shared/service/context.ts'
import { MEMORY_CEILING } from '#shared/points/admission.ts'
import { createLastFlush } from '#shared/points/pending-points.ts'
import { deadLetters, ledgerLosses } from '#shared/stores/schema/tables.ts'
import type { Metrics } from '#shared/runtime/metrics.ts'
import { rejectWith, within } from '#shared/runtime/deadline.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { isReporting, readClocks, readHeartbeats } from '#shared/service/heartbeat.ts'
import { archiveDueMs, readArchive } from '#shared/service/continuous-archive.ts'
import { lastBackupMs, newestMs, overdueMs, readSchedule } from '#shared/service/last-backup.ts'
import { statfs } from 'node:fs/promises'

export interface Bilingual {
  readonly 'zh-Hant': string
  readonly en: string
}

/** A cause of trouble. A failure stops the event's data; a warning precedes a possible failure. */
export interface Cause {
  readonly key:
    | 'database'
    | 'flush'
    | 'disk'
    | 'dead-letters'
    | 'lost'
    | 'clock'
    | 'slots'
    | 'memory'
    | 'backup'
    | 'service'
  readonly failure: boolean
  readonly text: string
}

const CHECK_MS = 3_000

/** @throws LoggableError on timeout */
export const withCheckTimeout = <T>(work: Promise<T>): Promise<T> =>
  within(
    work,
    CHECK_MS,
    rejectWith(() => new LoggableError(`no answer within ${CHECK_MS} ms`)),
  )

/** Specification, "Limits": stale-flush alert threshold. */
export const STALE_MS = 30 * 60_000
/** How long an irreversible problem is reported. */
const TOLD_FOR_MS = 86_400_000
/** How long a loss is a failure, which is alerted immediately even during another incident. */
const NEWS_MS = 120_000
const FIRST_START_KEY = 'first-start'
const FOR_EVER_MS = 10 * 365 * 86_400_000

export function createChecks(context: ServiceContext): () => Promise<Cause[]> {
  const { kv, now, stopwatch } = context
  const startedMs = now()
  const running = stopwatch()
  const lastFlush = createLastFlush(context)
  // The last known figures remain usable while their stores are down.
  let flushedMs: number | null = null

  const flush = async (): Promise<Cause | null> => {
    flushedMs = (await withCheckTimeout(lastFlush()).catch(() => null)) ?? flushedMs
    const sinceMs =
      flushedMs ??
      Number(
        await withCheckTimeout(kv.cacheOnce(FIRST_START_KEY, String(startedMs), FOR_EVER_MS)).catch(
          () => startedMs,
        ),
      )
    // Without any flush, the age is at least that of this process: the first start may have had a wrong clock.
    const ageMs = Math.max(now() - sinceMs, flushedMs === null ? running() : 0)
    const minutes = Math.floor(ageMs / 60_000)
    if (ageMs <= STALE_MS) return null
    const text = `資料已 ${minutes} 分鐘沒有寫入資料庫 · No successful flush for ${minutes} min`
    return { key: 'flush', failure: true, text }
  }

  let wasDown = false
  const database = async (): Promise<Cause | null> => {
    // A database that is merely busy answers the second probe.
    const answers = (await answersProbe(context)) || (!wasDown && (await answersProbe(context)))
    wasDown = !answers
    if (answers) return null
    return { key: 'database', failure: true, text: '資料庫沒有回應 · The database does not answer' }
  }

  const disk = createDiskCheck(() => freeBytesOf(context.config.dataDir), context.metrics)

  return async () => {
    const down = await database()
    const others = [flush(), disk(), checkClocks(context), checkSlots(context), checkMemory(context)]
    others.push(checkBackups(context))
    if (down === null) others.push(countDeadLetters(context), countLost(context))
    return [down, ...(await Promise.all(others))].filter((cause) => cause !== null)
  }
}

const answersProbe = ({ db }: ServiceContext): Promise<boolean> =>
  withCheckTimeout(db.probe()).then(
    () => true,
    () => false,
  )

async function checkSlots({ kv }: ServiceContext): Promise<Cause | null> {
  const slots = await withCheckTimeout(kv.movingSlots()).catch(() => 0)
  if (slots === 0) return null
  const text = `Redis Cluster 的 slot 正在搬移，定位可能遺失 · Slots of the Redis Cluster are moving: points can be lost`
  return { key: 'slots', failure: true, text }
}

async function checkMemory({ kv }: ServiceContext): Promise<Cause | null> {
  const use = await withCheckTimeout(kv.memoryUse()).catch(() => 0)
  if (use < MEMORY_CEILING) return null
  const percent = Math.floor(use * 100)
  const text = `Redis 的記憶體已用 ${percent}%，定位暫時無法接收 · Redis uses ${percent} % of its memory: points are refused`
  return { key: 'memory', failure: true, text }
}

const checkBackups = async (context: ServiceContext): Promise<Cause | null> =>
  (await checkSchedule(context)) ?? (await checkArchive(context))

async function checkSchedule({ kv, now }: ServiceContext): Promise<Cause | null> {
  const read = Promise.all([readSchedule(kv), lastBackupMs(kv)])
  const [schedule, last] = await withCheckTimeout(read).catch(() => [null, null] as const)
  // A time in the future is the mistake of a clock.
  const lastMs = last !== null && last > now() ? null : last
  if (schedule === null || now() < overdueMs(schedule, lastMs)) return null
  const { checkFailedMs, sinceMs } = schedule
  const hours = Math.floor((now() - (newestMs(schedule, lastMs) ?? sinceMs)) / 3_600_000)
  const text =
    checkFailedMs === null
      ? `已 ${hours} 小時沒有備份 · No backup for ${hours} h`
      : '最新的備份無法還原 · The newest backup cannot be restored'
  return { key: 'backup', failure: false, text }
}

async function checkArchive({ kv, now }: ServiceContext): Promise<Cause | null> {
  const archive = await withCheckTimeout(readArchive(kv)).catch(() => null)
  if (archive === null || now() < archiveDueMs(archive)) return null
  const minutes = Math.floor((now() - (archive.restorableMs ?? archive.sinceMs)) / 60_000)
  const text = `資料庫的持續備份已落後 ${minutes} 分鐘 · The continuous archive is ${minutes} minutes behind`
  return { key: 'backup', failure: false, text }
}

/**
 * Creates the check for services without any reporting process, whether it died or was stopped. The console shows them
 * as parts. A service counts only when two consecutive checks find it silent: after an outage of the kv every report is
 * old. It is a failure only for tracking and the scheduler: while it lasts, any other failure would be alerted late.
 */
export function createServiceCheck({ kv }: Pick<ServiceContext, 'kv'>): () => Promise<Cause | null> {
  let silentBefore: readonly ServiceName[] = []
  return async () => {
    const silent = await withCheckTimeout(silentServices(kv)).catch(() => [])
    const silentTwice = silent.filter((name) => silentBefore.includes(name))
    silentBefore = silent
    if (silentTwice.length === 0) return null
    const names = silentTwice.join(', ')
    const failure = silentTwice.includes('tracking') || silentTwice.includes('scheduler')
    const text = `服務沒有消息：${names} · A service has stopped reporting: ${names}`
    return { key: 'service', failure, text }
  }
}

async function silentServices(kv: ServiceContext['kv']): Promise<ServiceName[]> {
  const [beats, kvMs] = await Promise.all([readHeartbeats(kv, ServiceName.options), kv.clock()])
  return ServiceName.options.filter((name) => {
    const { latestMs } = beats.get(name)!
    return latestMs !== null && !isReporting(latestMs, kvMs)
  })
}

async function countDeadLetters({ db, now }: ServiceContext): Promise<Cause | null> {
  const since = new Date(now() - TOLD_FOR_MS)
  const query = db.orm.select({ count: count() }).from(deadLetters).where(gt(deadLetters.createdAt, since))
  const [row] = await withCheckTimeout(query.execute()).catch(() => [])
  if (row === undefined || row.count === 0) return null
  const text = `有 ${row.count} 筆定位無法寫入 · ${row.count} points could not be stored`
  return { key: 'dead-letters', failure: false, text }
}

async function countLost({ db, now }: ServiceContext): Promise<Cause | null> {
  const since = new Date(now() - TOLD_FOR_MS)
  const query = db.orm
    .select({ lost: sum(ledgerLosses.points), at: max(ledgerLosses.at) })
    .from(ledgerLosses)
    .where(gt(ledgerLosses.at, since))
  const [row] = await withCheckTimeout(query.execute()).catch(() => [])
  const lost = Number(row?.lost ?? 0)
  if (lost <= 0) return null
  return {
    key: 'lost',
    // After that it is a warning for the rest of the day, so that a new failure still causes its own alert.
    failure: now() - row!.at!.getTime() < NEWS_MS,
    text: `遺失了 ${lost} 筆定位 · ${lost} points are lost: see admin/ledger`,
  }
}

/** A clock that differs by more is wrong. */
export const CLOCK_MS = 5_000
/** This share of all received points, and at least this many, lie in the future only if clocks are wrong. */
export const EARLY_SHARE = 0.05
const EARLY_POINTS = 100
/** Points are compared with those of one to two spans ago. */
const SPAN_MS = 10 * 60_000

type Stores = Pick<ServiceContext, 'kv' | 'db'>

/** Reports the wrong clocks, as far as the kv and the database are available. */
async function checkClocks(stores: Stores): Promise<Cause | null> {
  const [processes, phones] = await Promise.all(
    [wrongProcesses(stores), wrongPhones(stores)].map((check) => withCheckTimeout(check).catch(() => [])),
  )
  const wrong = [...processes!, ...phones!]
  if (wrong.length === 0) return null
  const text = `${wrong.map((part) => part['zh-Hant']).join('；')} · ${wrong.map(({ en }) => en).join('; ')}`
  return { key: 'clock', failure: false, text }
}

async function wrongProcesses({ kv }: Stores): Promise<Bilingual[]> {
  const clocks = await readClocks(kv, ServiceName.options)
  const wrong = clocks.filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_MS)
  return wrong.map(({ process, services, aheadMs }) => {
    const [seconds, isAhead] = [Math.round(Math.abs(aheadMs) / 1_000), aheadMs > 0]
    const name = `${services.join(', ')} (${process})`
    return {
      'zh-Hant': `${name} 的時鐘比 Redis ${isAhead ? '快' : '慢'} ${seconds} 秒`,
      en: `The clock of ${name} is ${seconds} s ${isAhead ? 'ahead of' : 'behind'} that of Redis`,
    }
  })
}

async function wrongPhones({ kv, db }: Stores): Promise<Bilingual[]> {
  const [{ received, rejected }, nowMs] = await Promise.all([readLedger(db, kv), kv.clock()])
  const early = rejected['in-the-future'] ?? 0
  const span = Math.floor(nowMs / SPAN_MS)
  // All watchers compare with the same figures.
  const began = await kv.cacheOnce(keyOf(span), JSON.stringify([received, early]), 3 * SPAN_MS)
  const [receivedBefore, earlyBefore] = JSON.parse((await kv.cached(keyOf(span - 1))) ?? began) as [
    number,
    number,
  ]
  const points = early - earlyBefore
  const share = points / (received - receivedBefore)
  if (points < EARLY_POINTS || share < EARLY_SHARE) return []
  const percent = Math.round(share * 100)
  return [
    {
      'zh-Hant': `手機：${percent}% 的定位時間在未來`,
      en: `Phones: the time of ${percent} % of all points lies in the future`,
    },
  ]
}

const keyOf = (span: number): string => `early-points:${span}`

/** Minimum free disk space: below it journals may soon fail. */
export const FREE_BYTES = 512 * 1_024 * 1_024

/** Free bytes of the disk of a directory, or of the working directory's while that one is missing. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory).catch(() => statfs('.'))
  return bavail * bsize
}

/**
 * Creates the check.
 * @param freeBytes asks the disk. A call to a disk that hangs cannot be cancelled and occupies a thread, so the next
 *   check waits for the same call
 */
export function createDiskCheck(
  freeBytes: () => Promise<number>,
  metrics: Pick<Metrics, 'gauge'>,
): () => Promise<Cause | null> {
  let asking: Promise<number> | null = null
  const ask = () => (asking ??= freeBytes().finally(() => (asking = null)))
  // Read at each scrape instead of at the last check: admin checks only while an operator looks.
  metrics.gauge('event_disk_free_bytes', ask)
  return async () => {
    let free: number
    try {
      free = await withCheckTimeout(ask())
    } catch {
      return { key: 'disk', failure: true, text: '磁碟沒有回應 · The disk does not answer' }
    }
    if (free >= FREE_BYTES) return null
    const mb = Math.floor(free / 1_048_576)
    return { key: 'disk', failure: false, text: `磁碟空間只剩 ${mb} MB · Only ${mb} MB of disk are left` }
  }
}
