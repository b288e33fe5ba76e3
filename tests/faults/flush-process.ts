/**
 * Runs the scheduler's flush repeatedly in a process of its own until it is killed. Arguments: database URL, Redis URL,
 * current time (epoch milliseconds), and `locked`, or `lockless` to skip all locks. It prints `working` when it has
 * found pending points under its lock, and `through` after the flush.
 */
import { writeSync } from 'node:fs'
import { flush } from '#services/scheduler/flush/flush.ts'
import { openDatabase } from '#shared/stores/db/open-database.ts'
import type { Kv } from '#shared/stores/kv/kv.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { createCalendar } from '#shared/core/rules/calendar.ts'
import { onError } from '#tests/kv/drivers.ts'

const [databaseUrl, redisUrl, nowMs, locks] = process.argv.slice(2)
const say = (line: string) => void writeSync(1, `${line}\n`)

const db = await openDatabase({ url: databaseUrl!, dir: '' })
const opened = await openKv({ url: redisUrl!, partitions: 1, path: '', onError })
const pendingUsers: Kv['pendingUsers'] = async (partition) => {
  const users = await opened.pendingUsers(partition)
  if (users.length > 0) say('working')
  return users
}
const lockless = { lock: async () => '', renewLock: async () => true, unlock: async () => undefined }
const context = {
  db,
  kv: { ...opened, pendingUsers, ...(locks === 'lockless' ? lockless : {}) },
  calendar: createCalendar('Asia/Taipei'),
  now: () => Number(nowMs),
  log: createLog({}, (line) => say(line)),
  metrics: createMetrics('flush'),
  retentionMs: 259_200_000,
  lockMs: 9_000,
  maxAgeMs: 30 * 86_400_000,
  slicePoints: 100,
  stopping: new AbortController().signal,
}
say('open')
for (;;) {
  await flush(context, 60_000)
  say('through')
  await Bun.sleep(10)
}
