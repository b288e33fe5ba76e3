/** Calls `admit.lua`: encodes submissions and decodes verdicts. */
import type { AdmissionRules, Kv, Receipt, Submission, Verdict } from '../kv.ts'
import { asked, type Client } from './connection.ts'

/** Submissions per call of a restore: the stack of a script holds some thousands of values. */
const RESTORED_A_CALL = 1_000

/** The script's verdict on a submission that was not admitted completely. */
type Reply = [string, ...(string | number)[]]

type Answer = [pendings: string, others: (number | Reply)[], points: number, total: number, epoch: string]

/** @param client a connection with the timeout of admissions */
export function admissionVerbs(
  client: Client,
  tags: readonly string[],
  caller: string,
): Pick<Kv, 'admit' | 'restore' | 'onReceipt'> {
  const listeners: ((receipt: Receipt) => void)[] = []

  /** @param epoch for a restore, the epoch to begin if the store has none; empty for an admission */
  const call = async (
    partition: number,
    epoch: string,
    submissions: readonly Submission[],
    rules: AdmissionRules,
  ): Promise<Verdict[]> => {
    const args = admitArguments(submissions, rules)
    const [pendings, others, points, total, held] = await asked<Answer>(
      client.gpsAdmit(tags[partition]!, caller, epoch, ...args),
    )
    if (points > 0) for (const listener of listeners) listener({ partition, epoch: held, points, total })
    return verdictsOf(submissions, pendings, others)
  }

  return {
    admit: (partition, submissions, rules) => call(partition, '', submissions, rules),
    async restore(partition, submissions, rules) {
      const epoch = crypto.randomUUID()
      for (let from = 0; from < submissions.length; from += RESTORED_A_CALL)
        await call(partition, epoch, submissions.slice(from, from + RESTORED_A_CALL), rules)
    },
    onReceipt(listener) {
      listeners.push(listener)
    },
  }
}

function admitArguments(submissions: readonly Submission[], rules: AdmissionRules): (string | number)[] {
  const args: (string | number)[] = [
    rules.checkin.max,
    rules.checkin.windowMs,
    rules.sync.max,
    rules.sync.windowMs,
    rules.ingest.max,
    rules.ingest.windowMs,
    rules.duplicateMs,
    Math.ceil(rules.retentionMs / 1_000),
    rules.pendingMax,
  ]
  // One argument for all submissions: each argument costs the client and Redis more than its content.
  let lines = ''
  for (const { kind, userId, id, duplicateKey, recordedMs, position, entries } of submissions) {
    const place =
      position === null
        ? ''
        : `${position.t},${position.lat},${position.lng}${position.rough ? ',rough' : ''}`
    lines += `${kind};${userId};${id}|${duplicateKey}|${recordedMs};${place};${entries.length}\n`
    for (const { field, value } of entries) lines += `${field}\n${value}\n`
  }
  args.push(lines)
  return args
}

function verdictsOf(
  submissions: readonly Submission[],
  pendings: string,
  others: readonly (number | Reply)[],
): Verdict[] {
  const pendingCounts = pendings.split(',')
  const verdicts = submissions.map(({ recordedMs }, i): Verdict => ({
    outcome: 'admitted',
    duplicates: 0,
    duplicate: false,
    pending: Number(pendingCounts[i]),
    recordedMs,
    held: null,
  }))
  for (let i = 0; i < others.length; i += 2)
    verdicts[(others[i] as number) - 1] = verdictOf(others[i + 1] as Reply)
  return verdicts
}

function verdictOf([outcome, ...rest]: Reply): Verdict {
  switch (outcome) {
    case 'admitted':
      return {
        outcome,
        duplicates: Number(rest[0]),
        duplicate: rest[1] === 1,
        pending: Number(rest[2]),
        recordedMs: Number(rest[3]),
        held: String(rest[4]) || null,
      }
    case 'limited':
      return { outcome, retryAfterMs: Number(rest[0]) }
    case 'paused':
    case 'ended':
      return { outcome: 'refused', status: outcome, message: String(rest[0]) || null }
    case 'full':
    case 'erased':
    case 'no-consent':
      return { outcome }
    default:
      return { outcome: 'unknown' }
  }
}
