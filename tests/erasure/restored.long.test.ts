/** People who were erased after a backup was made stay erased when it is restored. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eraseUser } from '#services/admin/erasure/erase-pilgrim.ts'
import { restoreBackup } from '#services/admin/restore.ts'
import { verifyBackup } from '#services/admin/backup/archive.ts'
import { rebuild } from '#services/scheduler/rebuild.ts'
import type { ServiceContext } from '#shared/service/context.ts'
import {
  backUp,
  contents,
  fill,
  type Kind,
  openInstallation,
  OPERATOR,
  type Opened,
} from '#tests/admin/backup-harness.ts'
import { STACK_KINDS } from '#tests/helpers/suite.ts'
import { expectNothingToRebuild } from '#tests/scheduler/projections.ts'

const OPTIONS = { replace: true, paused: false }
/** Between them: reports, a survey, a card, a role, mentions, and points that are stored, pending and journaled. */
const ERASED = ['walker-0', 'walker-1', 'walker-3']

// Also embedded, in `bun run test:all` and when files are named.
for (const kind of STACK_KINDS satisfies readonly Kind[])
  describe(`a backup from before an erasure, ${kind}`, () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await openInstallation(kind)
      await fill(opened)
    })
    afterAll(() => opened?.close())

    test('is restored without the people who were erased since, and with everybody else', async () => {
      const { installation, harness } = opened
      const { db } = installation
      // Counts rows that were inserted by hand, so that any difference comes from the restore. Reports
      // contain only amounts that clients may send.
      await db.sql`
          UPDATE pilgrims SET consumption = '{"water": 3}', transport = '{"train": 12.5}' WHERE user_id = 'walker-0'`
      await rebuild(db, harness.calendar, { check: false, tell: () => undefined })
      const path = await backUp(opened)
      harness.nowMs += 3_600_000
      const context = { ...installation, calendar: harness.calendar } as ServiceContext
      for (const userId of ERASED) await eraseUser(context, OPERATOR, userId)
      const walked = () => db.sql`SELECT sum(walked)::int AS people FROM erasures`
      const walkedBefore = await walked()
      expect(walkedBefore).not.toEqual([{ people: 0 }])
      const backup = await verifyBackup(path)
      // The installation uses the harness's clock.
      expect(Date.parse(backup.header.made_at)).toBeLessThan(harness.nowMs)
      await restoreBackup(installation, backup, OPTIONS)
      const all = JSON.stringify(await contents(opened))
      for (const userId of ERASED) expect(all).not.toContain(userId)
      for (const userId of ['walker-2', 'walker-4']) expect(all).toContain(userId)
      expect(await db.sql`SELECT FROM erasing`).toHaveLength(0)
      expect(await walked()).toEqual(walkedBefore)
      await expectNothingToRebuild({ db, calendar: harness.calendar })
      await harness.flush()
      const after = JSON.stringify(await contents(opened))
      for (const userId of ERASED) expect(after).not.toContain(userId)
      await expectNothingToRebuild({ db, calendar: harness.calendar })
    })
  })
