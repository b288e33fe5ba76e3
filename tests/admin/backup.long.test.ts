/** Backup and restore: with each driver, from one driver to the other, and under load. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { rollUpCells } from '#services/scheduler/flush/roll-up-cells.ts'
import { kindOf, readArchive, rowsOf, verifyBackup } from '#services/admin/backup/archive.ts'
import { restoreBackup } from '#services/admin/restore.ts'
import { openJournal } from '#shared/points/journal/journal.ts'
import { createJournalRecovery } from '#shared/points/journal/journal-recovery.ts'
import { userHash } from '#shared/stores/kv/kv.ts'
import { readLedger } from '#shared/points/ledger/ledger.ts'
import { createLog } from '#shared/runtime/log.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import { rules } from '#tests/kv/drivers.ts'
import { expectProjections } from '#tests/scheduler/projections.ts'
import { NOON } from '#tests/scheduler/flush-harness.ts'
import { point } from '#tests/scheduler/walks.ts'
import {
  backUp,
  contents,
  fill,
  journaled,
  leaveOneConnection,
  type Kind,
  type Opened,
  openInstallation,
} from './backup-harness.ts'

const OPEN_MS = 60_000
const KINDS: Kind[] = embeddedOnly ? ['embedded'] : ['embedded', 'real']
const PLAIN = { replace: false, paused: false }

const REPLACE = { ...PLAIN, replace: true }

/** Installations of this file. Its tests do not change the sources, and replace the contents of a target. */
const sources = {} as Record<Kind, Opened>
const targets = {} as Record<Kind, Opened>
beforeAll(async () => {
  for (const kind of KINDS) {
    for (const group of [sources, targets]) group[kind] = await openInstallation(kind)
    await fill(sources[kind])
  }
}, 3 * OPEN_MS)
afterAll(async () => {
  for (const group of [sources, targets]) for (const store of Object.values(group)) await store.close()
})

const linesOf = async (path: string): Promise<string[]> => Array.fromAsync(readArchive(path))

/** Identities of all points in a backup, in any of its lines. */
async function pointsIn(path: string): Promise<Set<string>> {
  const found = new Set<string>()
  for (const line of await linesOf(path))
    if (kindOf(line) === 'waiting') {
      const { waiting } = JSON.parse(line) as { waiting: { userId: string; entries: { field: string }[] }[] }
      for (const { userId, entries } of waiting)
        for (const { field } of entries) found.add(`${userId} ${field}`)
    } else if (kindOf(line) === 'rows' && rowsOf(line).table === 'gps_points') {
      const rows = JSON.parse(rowsOf(line).json) as { user_id: string; kind: string; sent_at: string }[]
      for (const { user_id, kind, sent_at } of rows) found.add(`${user_id} ${kind}${Date.parse(sent_at)}`)
    }
  return found
}

for (const kind of KINDS)
  describe(`under load, ${kind}`, () => {
    test('the backup contains every point answered before it, and its totals are those of its points', async () => {
      const { installation, harness } = targets[kind]
      const { kv } = installation
      // A running replica whose kv sometimes rejects the replay of its journal.
      const journal = openJournal(join(installation.config.dataDir, 'journal'), 100_000)
      let refusing = true
      const troubled = {
        ...kv,
        restore: (...args: Parameters<typeof kv.restore>) =>
          refusing ? Promise.reject(new Error('not now')) : kv.restore(...args),
      }
      const replay = createJournalRecovery({
        kv: troubled,
        journal,
        redo: null,
        rules: rules(),
        log: createLog({}, () => undefined),
      })
      replay.start()
      const answered = new Set<string>()
      let stopped = false
      let at = NOON
      const phone = async (userId: string): Promise<void> => {
        while (!stopped) {
          const sentMs = (at += 1_000)
          const own = point({ kind: 'c', sentMs, lat: 24 + (sentMs % 7_919) / 1e5 })
          if (sentMs % 3_000 === 0) await replay.journal(journaled(userId, [own]), null)
          else await harness.buffer(userId, [own])
          answered.add(`${userId} c${sentMs}`)
          await Bun.sleep(1)
        }
      }
      // A flush runs just before the backup reads the database.
      const snapshot = Promise.withResolvers<void>()
      const flushing = async (): Promise<void> => {
        await harness.flush()
        await snapshot.promise
        while (!stopped) await harness.flush()
      }
      const toggling = async (): Promise<void> => {
        while (!stopped) {
          refusing = !refusing
          await Bun.sleep(700)
        }
      }
      const load = [...['a', 'b', 'c'].map(phone), flushing(), toggling()]
      await until(async () => answered.size > 20, 'points to be answered')
      const promised = [...answered]
      const path = await backUp(targets[kind], (line) => {
        if (kindOf(line) === 'days') snapshot.resolve()
      })
      stopped = true
      await Promise.all(load)
      await replay.stop()
      journal.close()

      const idsInBackup = await pointsIn(path)
      expect(promised.filter((id) => !idsInBackup.has(id))).toEqual([])
      if (kind === 'real') await leaveOneConnection(targets[kind])
      await restoreBackup(installation, await verifyBackup(path), REPLACE)
      // The next flush updates the cells, in both installations.
      await rollUpCells(
        { db: installation.db, log: createLog({}, () => {}), metrics: createMetrics('test') },
        harness.calendar,
      )
      await expectProjections(installation.db, harness.calendar)
      await harness.flush()
      await expectProjections(installation.db, harness.calendar)
      expect(await harness.storedPoints()).toBe(idsInBackup.size)
    })
  })

for (const [from, to] of [
  ['embedded', 'embedded'],
  ['real', 'real'],
  ['embedded', 'real'],
] as const)
  test.skipIf(embeddedOnly && to === 'real')(
    `everything is restored and continues, ${from} to ${to}`,
    async () => {
      const target = targets[to]
      const { installation, harness } = target
      const before = await contents(sources[from])
      const counters = await readLedger(sources[from].installation.db, sources[from].installation.kv)
      expect(counters).toMatchObject({ lost: 0, journaled: 0, inFlight: 0, pending: 40 })
      const path = await backUp(sources[from])
      expect(statSync(path).mode & 0o777).toBe(0o600)
      harness.nowMs = sources[from].harness.nowMs
      expect(await restoreBackup(installation, await verifyBackup(path), REPLACE)).toBe('paused')
      const after = await contents(target)
      // Formerly journaled points are now pending and on the map; those of the erased pilgrim are dropped.
      const journaled = ['walker-2', 'only-journaled']
      const pending = [
        ...before.pending,
        ...journaled.map((userId) => `${userId} c${harness.nowMs + 1}`),
      ].sort()
      expect(after.live.map(({ userId }) => userId)).toEqual(
        [...before.live.map(({ userId }) => userId), 'walker-1', ...journaled].sort(),
      )
      expect(after.live).toEqual(expect.arrayContaining(before.live))
      expect({ ...after, live: [] }).toEqual({ ...before, pending, live: [] })
      expect(await installation.kv.status()).toEqual({ status: 'paused', version: 5, message: 'rest' })
      expect(await installation.kv.hidden(0)).toEqual(['walker-0'])
      expect((await installation.kv.erased(0)).map((erasure) => erasure.userHash)).toContain(userHash('gone'))

      // The ledger counts the formerly journaled points as pending, and reports no loss.
      const { db, kv } = installation
      const { received, erased, duplicate, stored } = counters
      const more = { pending: 42, received: received + 4, erased: erased + 1, duplicate: duplicate + 1 }
      expect(await readLedger(db, kv)).toEqual({ ...counters, ...more })

      // The flush stores each pending point once, and no number of a sequence is used twice.
      const [row] = await installation.db.sql<{ id: number }[]>`
      INSERT INTO outbox (subject, payload, created_at) VALUES ('s', '{}', now()) RETURNING id`
      // A copy of an embedded database is opened as after a crash, and Postgres then skips up to 32 numbers.
      expect(row!.id).toBeGreaterThanOrEqual(3)
      expect(await harness.flush()).toMatchObject({ stored: 42, duplicates: 0, failures: 0, deadLetters: 0 })
      expect(await harness.pending()).toEqual([])
      expect(await readLedger(db, kv)).toEqual({ ...counters, ...more, stored: stored + 42, pending: 0 })
      expect(await installation.db.sql`SELECT FROM pilgrims WHERE user_id = 'gone'`).toBeEmpty()
    },
  )
