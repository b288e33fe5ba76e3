/** Decisions of the backup schedule: what is due, what is deleted, and when the owner is alerted. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHealth } from '#services/admin/lifecycle/health.ts'
import {
  afterCheck,
  environmentOf,
  expiredBackups,
  isBackupDue,
  isCheckDue,
  momentOf,
} from '#services/scheduler/scheduled-backups.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { createChecks } from '#shared/service/alerts/health-checks.ts'
import {
  type BackupSchedule,
  forgetSchedule,
  overdueMs,
  recordBackup,
  recordSchedule,
  resumedSchedule,
} from '#shared/service/last-backup.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const NOW = Date.parse('2026-04-12T08:00:00Z')
const WELL: BackupSchedule = {
  everyMs: DAY,
  sinceMs: NOW - 9 * DAY,
  restorableMs: NOW - HOUR,
  provenMs: NOW - HOUR,
  checkedMs: NOW - HOUR,
  checkTriedMs: NOW - HOUR,
  backupFailedMs: null,
  checkFailedMs: null,
  lookedMs: NOW,
  resumedMs: null,
  ownMs: null,
}
const ago = (...days: number[]) => days.map((one) => NOW - one * DAY)

test('the moment of a backup is in its name; no other file is one of the schedule', () => {
  expect(momentOf('scheduled-2026-04-12T08-00-00-123Z.jsonl.zst')).toBe(NOW + 123)
  for (const other of [
    'event-2026-04-12T08-00-00Z.jsonl.zst',
    'scheduled-2026-04-12T08-00-00-123Z.jsonl.zst.partial-1',
  ])
    expect(momentOf(other)).toBeNull()
})

test.each([
  ['keeps the newest ones', ago(0, 1, 2, 3), {}, ago(3)],
  ['deletes what is older than all of them should be, while backups fail', ago(2, 4), {}, ago(4)],
  ['keeps the newest one that can be restored', ago(0, 1, 2, 6), { restorableMs: NOW - 6 * DAY }, []],
  ['deletes even that one after 30 days', ago(29, 31), { restorableMs: NOW - 31 * DAY }, ago(31, 29)],
  ['takes one of the future for the oldest', [NOW + DAY, ...ago(0, 1)], {}, []],
  ['loses none to newer ones that cannot be restored', ago(0, 1, 2, 2.5, 4), { checkFailedMs: NOW }, ago(4)],
  ['and deletes it first', [NOW + DAY, ...ago(0, 1, 2)], {}, [NOW + DAY]],
  ['of 10 bytes each deletes the oldest beyond 25', ago(0, 1, 2), { maxBytes: 25 }, ago(2)],
  ['but not the newest one', ago(0, 1), { maxBytes: 5, restorableMs: null }, ago(1)],
  [
    'nor the newest one that can be restored',
    ago(0, 1, 2),
    { maxBytes: 25, restorableMs: NOW - 2 * DAY },
    ago(1),
  ],
])('of three backups a day, the schedule %s', (_, moments, change, deleted) => {
  const kept = { keep: 3, maxBytes: 100, everyMs: DAY, restorableMs: NOW, checkFailedMs: null, ...change }
  const sizes = new Map(moments.map((ms) => [ms, 10]))
  expect(new Set(expiredBackups(sizes, NOW, kept))).toEqual(new Set(deleted))
})

describe('what is due', () => {
  const failed = (hours: number) => ({ backupFailedMs: NOW - hours * HOUR })
  const before = (hours: number | null) => (hours === null ? null : NOW - hours * HOUR)
  const checked = (hours: number | null, tried = hours) => ({
    checkedMs: before(hours),
    checkTriedMs: before(tried),
  })
  const unproven = (hours: number) => ({ checkFailedMs: NOW - hours * HOUR })
  test.each([
    ['the first backup', {}, [], true],
    ['none within the interval', {}, ago(0.9), false],
    ['the next one after it', {}, ago(1.1), true],
    ['one although the newest is of the future', {}, [NOW + DAY], true],
    ['no other one soon after a failure', failed(0.9), [], false],
    ['another one an hour after a failure', failed(1.1), ago(0.5), true],
    ['one in place of a backup that cannot be restored', unproven(0.9), ago(0.1), true],
    ['but not at once', unproven(0.01), ago(0.03), false],
    ['and only one, if that cannot be restored either', unproven(9), ago(0.1), false],
  ])('%s', (_, change, moments, due) => {
    expect(isBackupDue({ ...WELL, ...change }, moments, NOW)).toBe(due)
  })

  test.each([
    ['no check without a backup', checked(null), [], false],
    ['the first check', checked(null), ago(0.1), true],
    ['one a day', checked(23), ago(0.1), false],
    ['the next one', checked(25), ago(0.1), true],
    ['no other one of a backup that cannot be restored', { ...checked(2), ...unproven(2) }, ago(0.1), false],
    ['one of the backup that replaces it', { ...checked(2), ...unproven(2) }, ago(0.03), true],
    ['none soon after one that could not be done', checked(9, 0.9), ago(0.1), false],
    ['another one an hour later', checked(9, 1.1), ago(0.1), true],
    ['also where none was ever done', checked(null, 1.1), ago(0.1), true],
  ])('%s', (_, change, moments, due) => {
    expect(isCheckDue({ ...WELL, ...change }, moments, NOW)).toBe(due)
  })

  test.each([
    ['passed', { newest: 'done', provenMs: NOW }, { provenMs: NOW, checkedMs: NOW, checkFailedMs: null }],
    [
      'found a file that cannot be restored, for the first time',
      { newest: 'not restorable', provenMs: NOW - DAY },
      { provenMs: NOW - DAY, checkedMs: NOW, checkFailedMs: NOW },
    ],
    ['could not be done', { newest: 'failed', provenMs: null }, {}],
  ] as const)('a check that %s', (_, checked, change) => {
    expect(afterCheck(WELL, checked, NOW)).toEqual({ ...WELL, checkTriedMs: NOW, ...change })
    const failing = { ...WELL, checkFailedMs: NOW - DAY }
    const stays = checked.newest === 'done' ? null : NOW - DAY
    expect(afterCheck(failing, checked, NOW).checkFailedMs).toBe(stays)
  })
})

test('the commands connect as this process does, and get no other secret', () => {
  const outer = {
    NODE_EXTRA_CA_CERTS: '/ca',
    PGSSLMODE: 'verify-full',
    https_proxy: 'http://p',
    EVENT_PUSH_PRIVATE_KEY: 'k',
  }
  const { EVENT_PUSH_PRIVATE_KEY, ...connections } = outer
  const given = environmentOf(readConfig({}), outer)
  expect(given).toMatchObject(connections)
  expect(Object.values(given)).not.toContain(EVENT_PUSH_PRIVATE_KEY)
})

test.each([
  ['two intervals after the newest one', {}, null, NOW - HOUR + 2 * DAY],
  ['or after a later one taken by hand', {}, NOW, NOW + 2 * DAY],
  ['not after an own one that is not proven', { ownMs: NOW }, NOW, NOW - HOUR + 2 * DAY],
  ['since its check failed', { checkFailedMs: NOW - 2 * HOUR }, null, NOW - 2 * HOUR],
  ['not while one taken by hand is later', { checkFailedMs: NOW - 2 * HOUR }, NOW, NOW + 2 * DAY],
  [
    'not before the first one after a pause',
    { restorableMs: NOW - 9 * DAY, resumedMs: NOW },
    null,
    NOW + 2 * HOUR,
  ],
])('a backup is overdue %s', (_, change, lastMs, atMs) => {
  expect(overdueMs({ ...WELL, ...change }, lastMs)).toBe(atMs)
})

test.each([
  ['a pause', { lookedMs: NOW - DAY }, NOW],
  ['a restart is none', { lookedMs: NOW - HOUR }, undefined],
  ['once, if the process dies before it looks', { lookedMs: NOW - 3 * DAY, resumedMs: NOW - DAY }, undefined],
])('the schedule notes %s', (_, change, resumedMs) => {
  expect(resumedSchedule({ ...WELL, ...change }, NOW)?.resumedMs).toBe(resumedMs)
})

describe('what is told of it', () => {
  let parts: ServiceParts
  beforeAll(async () => {
    parts = await openServiceParts({}, { now: () => NOW })
  })
  afterAll(() => parts?.close())

  const causeOf = async (schedule: BackupSchedule) => {
    await recordSchedule(parts.ports.kv, schedule)
    return (await createChecks(parts.context())()).find(({ key }) => key === 'backup') ?? null
  }
  const cause = (text: string) => ({
    key: 'backup' as const,
    failure: false,
    text: expect.stringContaining(text),
  })

  test('the owner is alerted when two intervals have passed, or the newest backup cannot be restored', async () => {
    expect(await causeOf(WELL)).toBeNull()
    expect(await causeOf({ ...WELL, backupFailedMs: NOW, restorableMs: NOW - 47 * HOUR })).toBeNull()
    expect(await causeOf({ ...WELL, restorableMs: NOW - 49 * HOUR })).toEqual(cause('No backup for 49 h'))
    expect(await causeOf({ ...WELL, restorableMs: null, sinceMs: NOW - 47 * HOUR })).toBeNull()
    expect(await causeOf({ ...WELL, restorableMs: null, sinceMs: NOW - 50 * HOUR })).toEqual(
      cause('for 50 h'),
    )
    expect(await causeOf({ ...WELL, checkFailedMs: NOW })).toEqual(cause('cannot be restored'))
  })

  test('health tells the newest restorable moment: of the schedule, or of a later command', async () => {
    const { kv } = parts.ports
    const told = async () => (await createHealth(parts.context())()).last_backup
    const failing = { ...WELL, checkFailedMs: NOW, restorableMs: NOW - 3 * DAY }
    await recordSchedule(kv, { ...failing, ownMs: NOW - DAY })
    await recordBackup(kv, NOW - DAY)
    expect(await told()).toBe('2026-04-09T08:00:00.000Z')
    await recordSchedule(kv, failing)
    expect(await told()).toBe('2026-04-11T08:00:00.000Z')
    await forgetSchedule(kv)
    expect(await told()).toBe('2026-04-11T08:00:00.000Z')
    await kv.forget('last-backup')
    expect(await told()).toBeNull()
  })
})
