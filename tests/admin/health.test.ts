/**
 * What the admin service answers of its own state: the health report with a busy database or a clock that was set back,
 * the commit that runs, the history of a long event, and a revocation whose refresh fails.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readTimeline } from '#services/admin/reports/timeline.ts'
import { makeToken, revokeToken } from '#services/admin/supervision/manage-tokens.ts'
import { createHealth } from '#services/admin/lifecycle/health.ts'
import { readCommit } from '#shared/runtime/commit.ts'
import { newDirectory } from '#tests/helpers/process.ts'
import { stopwatchBy } from '#tests/helpers/stopwatch.ts'
import { openServiceParts, type ServiceParts } from '#tests/helpers/service-parts.ts'

let parts: ServiceParts
beforeAll(async () => {
  parts = await openServiceParts()
})
afterAll(() => parts?.close())

test('comes while a long transaction has the only connection', async () => {
  const { db } = parts.ports
  let nowMs = Date.now()
  const health = createHealth({ ...parts.context(), stopwatch: stopwatchBy(() => nowMs) })
  await db.sql`UPDATE activity SET status = 'ended'`
  expect(await health()).toMatchObject({ status: 'ended', db: 'ok' })

  const held = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const holding = db.transaction(async () => {
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

test('shows a lost database although the clock of the process was set back', async () => {
  const own = await openServiceParts()
  let aheadMs = 0
  let elapsedMs = 0
  const health = createHealth({
    ...own.context(),
    now: () => Date.now() + aheadMs,
    stopwatch: stopwatchBy(() => elapsedMs),
  })
  try {
    expect(await health()).toMatchObject({ status: 'ok', db: 'ok' })
  } finally {
    await own.close()
  }
  aheadMs = -600_000
  elapsedMs += 1_000
  expect(await health()).toMatchObject({ status: 'error', db: 'error' })
})

test('the history of the event shows its newest entry, however many there are', async () => {
  const context = parts.context()
  await context.db.sql`
    INSERT INTO audit_log (at, token_name, token_fingerprint, role, action, details, request_id)
    SELECT now() - interval '1 day', 'lin', 'f', 'manager', 'push', '{}', 'r' FROM generate_series(1, 1000)`
  await context.db.sql`
    INSERT INTO audit_log (at, token_name, token_fingerprint, role, action, details, request_id)
    VALUES (now(), 'lin', 'f', 'manager', 'set-status', '{"status": "paused", "message": "Storm"}', 'r')`
  expect((await readTimeline(context)).entries.at(-1)).toMatchObject({ kind: 'paused', message: 'Storm' })
})

test('a revoked token counts as revoked, although this process cannot read the list again', async () => {
  const context = parts.context()
  const operator = { role: 'owner', level: 3, name: 'lin', fingerprint: 'f', requestId: 'r' } as const
  const { fingerprint } = await makeToken(context, operator, { name: 'gate', role: 'manager' })
  const made = Object.create(context.auth.made, {
    refresh: { value: () => Promise.reject(new Error('the database is gone')) },
  }) as typeof context.auth.made
  const auth = { ...context.auth, made }
  expect(await revokeToken({ ...context, auth }, operator, fingerprint)).toEqual({ revoked: true })
})

test('the commit is that of the image or of the checkout itself, and is never guessed', async () => {
  const root = await newDirectory('checkout')
  const git = (...args: string[]): string => {
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@localhost']
    const { success, stdout, stderr } = Bun.spawnSync(['git', ...identity, ...args], { cwd: root })
    if (!success) throw new Error(stderr.toString())
    return stdout.toString().trim()
  }
  try {
    const code = join(root, 'code')
    await mkdir(code)
    await writeFile(join(root, 'file'), 'a')
    expect(await readCommit('', root)).toBeNull()
    git('init', '--quiet')
    expect(await readCommit('', root)).toBeNull()
    git('add', 'file')
    git('commit', '--quiet', '--no-verify', '-m', 'one')
    git('tag', 'v1')
    const head = git('rev-parse', 'HEAD')
    expect(await readCommit('', root)).toBe(head)
    await writeFile(join(root, 'file'), 'b')
    expect(await readCommit('', root)).toBe(`${head}-dirty`)
    // The checkout belongs to another repository.
    expect(await readCommit('', code)).toBeNull()
    expect(await readCommit('f00d', root)).toBe('f00d')
  } finally {
    await rm(root, { recursive: true, force: true })
  }
  const { commit } = await createHealth(parts.context())()
  expect(commit).toBe(await readCommit(''))
})
