/** The condition of the installation. Never fails: a part that cannot be read is reported as such. */
import { alertingOf, bilingual, WHAT_TO_DO } from '#shared/service/alerts/alert-texts.ts'
import { readEmergencyReach } from '#shared/service/alerts/emergency-reach.ts'
import { createIncidentStore } from '#shared/service/alerts/when-to-alert.ts'
import { createChecks } from '#shared/service/alerts/health-checks.ts'
import { ServiceName } from '#shared/contracts/endpoint.ts'
import { time, timeOrNull } from '#shared/contracts/fields.ts'
import type { Health } from '#shared/contracts/operations.ts'
import type { Condition, Part } from '#shared/contracts/supervision.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import { within } from '#shared/runtime/deadline.ts'
import { type Beats, isReporting, readHeartbeats } from '#shared/service/heartbeat.ts'
import { type BackupSchedule, newestBackupMs, readSchedule } from '#shared/service/last-backup.ts'
import { showLedger } from '../ledger/show-ledger.ts'
import { incidentSeen } from '../stream/watch.ts'

const READ_MS = 1_000

/** A value, or null if it cannot be read in time. The state of the store itself is one of the parts. */
const orNull = <T>(read: Promise<T>): Promise<T | null> => within(read, READ_MS, () => null).catch(() => null)

export function createCondition(
  context: ServiceContext,
  health: () => Promise<Health>,
): () => Promise<Condition> {
  const { config, kv, now } = context
  const alerting = alertingOf(config.line.accessToken !== '', config.alertUserId)
  const checks = createChecks(context)
  const incidents = createIncidentStore(context)
  return async () => {
    const [report, causes, incident, beats, kvMs, oldest, ledger, memory, backupMs, schedule, sos] =
      await Promise.all([
        health(),
        checks(),
        orNull(incidents.recall()),
        orNull(readHeartbeats(kv, ServiceName.options)),
        orNull(kv.clock()),
        orNull(kv.oldestPending()),
        orNull(showLedger(context)),
        orNull(kv.memoryUse()),
        orNull(newestBackupMs(kv)),
        orNull(readSchedule(kv)),
        orNull(readEmergencyReach(context)),
      ])
    const nowMs = now()
    const parts = [...storesOf(report, nowMs), ...servicesOf(beats, kvMs)]
    return {
      parts,
      last_flush: report.last_flush,
      oldest_pending: timeOrNull(oldest),
      ledger,
      kv_memory: memory,
      incident: incidentSeen(incident),
      causes: [
        ...causes.map(({ key, failure, text }) => ({
          key,
          failure,
          text: bilingual(text),
          what_to_do: WHAT_TO_DO[key],
        })),
        ...parts.flatMap(causeOfPart),
      ],
      alerting: { ...alerting, sos },
      backup_at: timeOrNull(backupMs),
      backups: schedule && backupsOf(schedule),
      as_of: time(nowMs),
    }
  }
}

const backupsOf = (schedule: BackupSchedule): Condition['backups'] => ({
  restorable_at: timeOrNull(schedule.restorableMs),
  checked_at: timeOrNull(schedule.checkedMs),
  check_failed: schedule.checkFailedMs !== null,
  every_hours: schedule.everyMs / 3_600_000,
})

/** The cause for a part that is down. The database has its own cause. */
function causeOfPart({ name, state, processes }: Part): Condition['causes'] {
  if (name === 'db' || state === 'ok' || state === 'unknown') return []
  const key = name === 'kv' || name === 'objects' ? name : 'service'
  const text =
    key !== 'service'
      ? `${name} 沒有回應 · ${name} does not answer`
      : state === 'degraded'
        ? `${name} 有 ${processes!.silent} 個程序沒有消息，${processes!.running} 個正常 · ${processes!.silent} of ${processes!.running + processes!.silent} processes of ${name} do not report`
        : `服務沒有消息：${name} · A service has stopped reporting: ${name}`
  return [
    {
      key,
      failure: state !== 'degraded' && (name === 'kv' || name === 'scheduler'),
      text: bilingual(text),
      what_to_do: WHAT_TO_DO[key],
    },
  ]
}

const storesOf = (report: Health, nowMs: number): Part[] =>
  (['db', 'kv', 'objects'] as const).map((name) => ({
    name,
    kind: 'store',
    state: report[name],
    seen_at: report[name] === 'ok' ? time(nowMs) : null,
    processes: null,
  }))

const servicesOf = (beats: ReadonlyMap<string, Beats> | null, kvMs: number | null): Part[] =>
  ServiceName.options.map((name) => {
    const of = beats?.get(name)
    if (of === undefined || kvMs === null)
      return { name, kind: 'service', state: 'unknown', seen_at: null, processes: null }
    const isRunning = (ms: number): boolean => isReporting(ms, kvMs)
    const running = of.processesMs.filter(isRunning).length
    const silent = of.processesMs.length - running
    // A process that has just started may not be listed yet.
    const someRuns = running > 0 || (of.latestMs !== null && isRunning(of.latestMs))
    const state = !someRuns ? 'silent' : silent > 0 ? 'degraded' : 'ok'
    return { name, kind: 'service', state, seen_at: timeOrNull(of.latestMs), processes: { running, silent } }
  })
