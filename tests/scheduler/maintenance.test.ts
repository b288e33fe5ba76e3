/** What the maintenance deletes by age, and that a wrong clock of the process deletes nothing. */
import { expect, test } from 'bun:test'
import { createMaintenance } from '#services/scheduler/maintenance.ts'
import { openServiceParts } from '#tests/helpers/service-parts.ts'

const DAY_MS = 86_400_000

test('a process whose clock is a month ahead deletes no event that is young by the clocks of the stores', async () => {
  const parts = await openServiceParts()
  const { db } = parts.ports
  const subjectsLeft = async (aheadMs: number) => {
    const maintenance = createMaintenance({ ...parts.context(), now: () => Date.now() + aheadMs })
    maintenance.start()
    await maintenance.stop()
    const rows = await db.sql<{ subject: string }[]>`SELECT subject FROM outbox ORDER BY id`
    return rows.map(({ subject }) => subject)
  }
  try {
    await db.sql`INSERT INTO outbox (subject, payload, created_at) VALUES
      ('old', '{}', now() - interval '31 days'), ('young', '{}', now())`
    expect(await subjectsLeft(-31 * DAY_MS)).toEqual(['old', 'young'])
    expect(await subjectsLeft(31 * DAY_MS)).toEqual(['young'])
  } finally {
    await parts.close()
  }
})
