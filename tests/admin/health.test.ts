/** The health report of a database that is busy. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHealth } from '#services/admin/lifecycle/health.ts'
import { readConfig } from '#shared/runtime/config/config.ts'
import { migrateDatabase } from '#shared/stores/db/migrate.ts'
import { createLog } from '#shared/runtime/log.ts'
import { contextOf, openPorts, type Ports } from '#shared/service/service.ts'

const dir = mkdtempSync(join(tmpdir(), 'health-'))
const log = createLog({}, () => undefined)
let ports: Ports
beforeAll(async () => {
  ports = await openPorts(readConfig({ EVENT_DATA_DIR: dir }), log, Date.now, migrateDatabase)
})
afterAll(async () => {
  await ports.close()
  rmSync(dir, { recursive: true, force: true })
})

test('comes while a long transaction has the only connection', async () => {
  const { db } = ports
  let nowMs = Date.now()
  const context = contextOf(ports, 'admin', log, { tls: false, addressOf: () => 'test' })
  const health = createHealth({ ...context, now: () => nowMs })
  await db.sql`UPDATE activity SET status = 'ended'`
  expect(await health()).toMatchObject({ status: 'ended', db: 'ok' })

  const held = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const holding = db.orm.transaction(async () => {
    isHeld.resolve()
    await held.promise
  })
  await isHeld.promise
  const reports = []
  for (let i = 0; i < 3; i++) {
    nowMs += 1_000
    reports.push(health())
  }
  for (const report of reports) expect(await report).toMatchObject({ status: 'ended', db: 'ok' })
  held.resolve()
  await holding
})
