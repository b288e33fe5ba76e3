/**
 * `bun run reset` deletes all data of a rehearsal, only before the event, and can be repeated after any interruption.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { journalsOf, type Installation } from '#services/admin/backup/take-backup.ts'
import { clearRehearsal, CLEARED, expectRehearsal, readContents } from '#services/admin/reset.ts'
import { auditEndpoint } from '#shared/contracts/audit.ts'
import { timeOrNull } from '#shared/contracts/fields.ts'
import type { Config } from '#shared/runtime/config/config.ts'
import { SOS_PRESSES } from '#shared/stores/objects/spool.ts'
import { openKv } from '#shared/stores/kv/open-kv.ts'
import { dataOf, sentenceOf } from '#tests/helpers/answers.ts'
import { type Embedded, startEmbedded, startMigratedEmbedded } from '#tests/helpers/embedded.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { embeddedOnly } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'
import {
  callAs,
  checkIn,
  flushed,
  newPilgrimId,
  readAs,
  setStatus,
  SETTINGS,
  type TestStack,
} from '#tests/helpers/test-stack.ts'
import { openRealTestStack } from '#tests/helpers/test-stack-real.ts'
import { contents, fill, type Kind, type Opened, openInstallation } from './backup-harness.ts'
import { runCommand } from '#tests/helpers/process.ts'
import { setEvent } from '#tests/helpers/set-event.ts'
import { post } from '#tests/helpers/pilgrim.ts'

const KINDS: Kind[] = embeddedOnly ? ['embedded'] : ['embedded', 'real']
const AHEAD = Date.now() + 3_600_000

const withStart = (config: Config, startsMs: number | null): Config => {
  const { parts } = config.event
  const name = { ...parts.name, starts_at: timeOrNull(startsMs) }
  return { ...config, event: { ...config.event, parts: { ...parts, name } } }
}

describe.each(KINDS)('clearing a rehearsal, %s', (kind) => {
  let opened: Opened
  let fresh: Awaited<ReturnType<typeof contents>>
  let installation: Installation
  beforeAll(async () => {
    opened = await openInstallation(kind)
    fresh = await contents(opened)
    await fill(opened)
    installation = before(AHEAD)
  })
  afterAll(() => opened?.close())

  /** With the event at this time; the connection pools of this process do not count as services. */
  const before = (startsMs: number | null, now = Date.now): Installation => ({
    ...opened.installation,
    config: withStart(opened.installation.config, startsMs),
    now,
  })
  const refusal = async (of: Installation): Promise<string> =>
    ((await rejection(expectRehearsal(of))) as Error).message

  /** Closes idle connections of this pool, which look like a service's. */
  const leaveOneConnection = async () => {
    if (kind === 'embedded') return
    const { db } = opened.installation
    await db.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await until(() => db.probe().then(() => true), 'the pool to notice')
  }

  test('is refused once the event has begun by any clock, or when its start is not set', async () => {
    await leaveOneConnection()
    expect(await refusal(before(null))).toContain('no beginning')
    expect(await refusal(before(AHEAD, () => AHEAD))).toContain('began')
    expect(await refusal(before(Date.now() - 1))).toContain('began')
    // This machine's clock is behind the database's.
    expect(await refusal(before(Date.now() - 1, () => 0))).toContain('began')
    await expectRehearsal(before(AHEAD))
  })

  test('is refused while another process uses the stores', async () => {
    // Embedded stores use a lock, which a test of the command covers below.
    if (kind === 'embedded') return
    const { redisUrl } = opened.installation.config
    const other = await openKv({ url: redisUrl, partitions: 1, path: '', onError: () => undefined })
    expect(await refusal(installation)).toContain('connected to the kv (3 connections)')
    await other.close()
    await until(() => expectRehearsal(installation).then(() => true), 'it to be gone')
  })

  test('continues after an interruption, and leaves a new installation with what operators have set up', async () => {
    await leaveOneConnection()
    const spooled = `${SOS_PRESSES.prefix}walker-1/app-1`
    await installation.objects.put(spooled, Buffer.from('{}'), { contentType: 'application/json' })
    const contentsBefore = await contents(opened)
    const found = await readContents(installation)
    expect(found).toMatchObject({
      gps_points: expect.any(Number) as number,
      pilgrims: 6,
      pictures: 3,
      messages: 1,
    })
    const broken = (): Promise<never> => Promise.reject(new Error('broken off'))
    const { kv, objects } = installation
    for (const breaking of [
      { kv: { ...kv, clear: broken } },
      { objects: { ...objects, delete: broken } },
      { kv: { ...kv, setStatus: broken } },
    ]) {
      expect(await rejection(clearRehearsal({ ...installation, ...breaking }, found))).toMatchObject({
        message: 'broken off',
      })
      // No pending points remain once the database is cleared.
      if ('objects' in breaking)
        expect(await contents(opened)).toMatchObject({ pending: fresh.pending, live: [] })
    }
    await clearRehearsal(installation, found)
    // A press of the rehearsal would raise an alert in the event.
    expect(await objects.head(spooled)).toBeNull()

    const left = await contents(opened)
    for (const table of CLEARED.filter((name) => !name.startsWith('ledger_')))
      expect({ table, rows: left.tables[table] }).toEqual({ table, rows: fresh.tables[table] })
    // Erased people stay recorded, but are no longer part of the totals.
    expect(contentsBefore.tables.erasures!.join('')).toContain('"walked":1')
    expect(left.tables.erasures).toEqual(
      contentsBefore.tables.erasures!.map((row) => row.replace('"walked":1', '"walked":0')),
    )
    for (const table of ['role_assignments', 'notification_plan', 'rich_menus', 'line_events'])
      expect({ table, rows: left.tables[table] }).toEqual({ table, rows: contentsBefore.tables[table] })
    expect(left.tables.followers).toHaveLength(contentsBefore.tables.followers!.length)
    expect([left.live, left.pending]).toEqual([fresh.live, fresh.pending])
    expect(Object.keys(left.stored)).toEqual(['webhooks/event-1'])
    expect(readdirSync(journalsOf(installation))).toEqual([])
    expect(await readContents(installation)).toEqual({})
    expect(await kv.status()).toMatchObject({ status: 'active', message: null })
    expect(await kv.erased(0)).toHaveLength(contentsBefore.tables.erasures!.length)
    const audit = left.tables.audit_log!.map((row) => JSON.parse(row) as { action: string; details: object })
    const resets = audit.filter(({ action }) => action === 'reset')
    expect(resets.filter(({ details }) => Bun.deepMatch({ state: 'done' }, details))).toHaveLength(2)
    expect(resets).toHaveLength(6)
  })
})

/** Runs the command, and kills it after `killAfterMs` if given. */
async function runReset(env: Record<string, string>, args: string[], killAfterMs?: number) {
  const command = [process.execPath, 'services/admin/reset.ts', ...args]
  const { PATH = '', HOME = '' } = process.env
  const { code, out, err } = await runCommand(command, {
    env: { PATH, HOME, ...env },
    ...(killAfterMs === undefined ? {} : { timeout: killAfterMs, killSignal: 'SIGKILL' }),
  })
  return { code, text: out + err }
}

const EVENT = { EVENT_NAME: 'Mazu 2027' }
const DATES = { names: { 'zh-Hant': EVENT.EVENT_NAME }, starts_at: new Date(AHEAD).toISOString() }
const YES = ['--yes', 'Mazu 2027']

const resetsOf = async (stack: Pick<TestStack, 'fetch'>): Promise<number> => {
  const answer = await readAs(stack, 'owner', 'admin/audit')
  const { items } = await dataOf(answer, auditEndpoint)
  return items.filter(({ action }) => action === 'reset').length
}
const isKnown = async (stack: Pick<TestStack, 'fetch'>, userId: string): Promise<number> =>
  (await stack.fetch(`/api/event/user/${userId}`)).status

describe('the command', () => {
  test('with embedded drivers: is refused while the run is up and without the name, and then deletes everything', async () => {
    const settings = { ...SETTINGS, ...EVENT }
    let run: Embedded = await startMigratedEmbedded(settings)
    const env = { ...EVENT, EVENT_DATA_DIR: run.dataDir }
    try {
      const userId = newPilgrimId()
      await setEvent(run, 'name', DATES)
      expect((await checkIn(run, userId)).status).toBe(202)
      const rehearsedAt = Date.now()
      expect(await runReset(env, YES)).toMatchObject({
        code: 1,
        text: expect.stringContaining('in use') as string,
      })
      await run.stop()
      expect(await runReset(env, [])).toMatchObject({
        code: 1,
        text: expect.stringContaining('Nothing is') as string,
      })
      expect(await runReset(env, ['--yes', 'mazu'])).toMatchObject({ code: 1 })
      expect(await runReset(env, ['--no'])).toMatchObject({ code: 2 })
      expect(existsSync(join(run.dataDir, 'kv.sqlite'))).toBe(true)
      expect(await runReset(env, YES)).toMatchObject({
        code: 0,
        text: expect.stringContaining('cleared') as string,
      })
      run = await startEmbedded({ ...settings, EVENT_DATA_DIR: run.dataDir })
      expect(await isKnown(run, userId)).toBe(404)
      expect(await resetsOf(run)).toBe(2)
      expect((await checkIn(run, userId)).status).toBe(202)
      // A phone that still has a rehearsal point does not bring it back.
      const sent = { user_id: userId, lat: 24, lng: 120.7, timestamp: rehearsedAt }
      expect((await post(run, 'checkin', sent)).status).toBe(400)
    } finally {
      await run.stop('SIGKILL')
      run.remove()
    }
  }, 120_000)

  test('from the console: only in a rehearsal, before the event, with its name; the run starts again without its data', async () => {
    const run = await startMigratedEmbedded({ ...SETTINGS, ...EVENT })
    const ask = (name: string) => callAs(run, 'owner', 'POST', 'admin/reset', { name })
    try {
      const userId = newPilgrimId()
      const rehearsedAt = Date.now()
      expect((await checkIn(run, userId)).status).toBe(202)
      await setEvent(run, 'name', DATES)
      expect(await sentenceOf(await ask('Mazu 2027'), 409, 'conflict')).toContain('No rehearsal is on')
      await setEvent(run, 'rehearsal', { on: true })
      await setEvent(run, 'name', { starts_at: new Date(Date.now() - 1_000).toISOString() })
      expect(await sentenceOf(await ask('Mazu 2027'), 409, 'conflict')).toContain('began')
      await setEvent(run, 'name', DATES)
      expect((await ask('Mazu')).status).toBe(400)
      expect((await callAs(run, 'manager', 'POST', 'admin/reset', { name: 'Mazu 2027' })).status).toBe(403)
      expect(await isKnown(run, userId)).toBe(200)
      expect((await ask('Mazu 2027')).status).toBe(200)
      await until(
        async () => (await isKnown(run, userId).catch(() => 0)) === 404,
        'the run without its data',
        {
          timeoutMs: 60_000,
        },
      )
      expect(await resetsOf(run)).toBe(3)
      const sent = { user_id: userId, lat: 24, lng: 120.7, timestamp: rehearsedAt }
      expect((await post(run, 'checkin', sent)).status).toBe(400)
      expect((await checkIn(run, userId)).status).toBe(202)
      // It exits normally.
      expect(await run.stop()).toBe(0)
    } finally {
      await run.stop('SIGKILL')
      run.remove()
    }
  }, 180_000)

  test.skipIf(embeddedOnly)(
    'with servers: completes after being killed repeatedly',
    async () => {
      const stack = await openRealTestStack({ settings: EVENT })
      try {
        await setEvent(stack, 'name', DATES)
        const pilgrims = [newPilgrimId(), newPilgrimId()]
        for (const userId of pilgrims) expect((await checkIn(stack, userId)).status).toBe(202)
        await flushed(stack)
        await setStatus(stack, { status: 'paused', message: 'rehearsed' })
        await setEvent(stack, 'rehearsal', { on: true })
        const asked = await callAs(stack, 'owner', 'POST', 'admin/reset', { name: 'Mazu 2027' })
        expect(await sentenceOf(asked, 409, 'conflict')).toContain('bun run reset')
        const env = { ...(stack.settings as Record<string, string>) }
        const refused = await runReset(env, YES)
        expect(refused).toMatchObject({ code: 1, text: expect.stringContaining('stop them first') as string })
        const services = [
          ...(['survey-profile', 'feedback-media', 'admin', 'line-bot', 'scheduler'] as const).map((name) =>
            stack.service(name),
          ),
          stack.service('tracking', 0),
          stack.service('tracking', 1),
        ]
        await Promise.all(services.map((service) => service.stop()))
        for (const afterMs of [250, 350, 450]) await runReset(env, YES, afterMs)
        // The servers close the connections of killed processes with a delay.
        await until(async () => (await runReset(env, YES)).code === 0, 'the reset')
        await Promise.all(services.map((service) => service.restart()))
        for (const userId of pilgrims) expect(await isKnown(stack, userId)).toBe(404)
        expect(await resetsOf(stack)).toBeGreaterThanOrEqual(2)
        expect((await checkIn(stack, pilgrims[0]!)).status).toBe(202)
      } finally {
        await stack.close()
      }
    },
    120_000,
  )
})
