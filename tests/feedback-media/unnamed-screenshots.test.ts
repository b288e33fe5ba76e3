/** Unreferenced screenshots are deleted after a week, unless a reference is added at that moment. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { submitFeedback } from '#services/feedback-media/feedback/reports.ts'
import { deleteUnnamedScreenshots, UNNAMED_MS, createMaintenance } from '#services/scheduler/maintenance.ts'
import { FeedbackRequest } from '#shared/contracts/feedback.ts'
import type { Database, Tx } from '#shared/stores/db/db.ts'
import { type Objects, ObjectsUnavailable } from '#shared/stores/objects/objects.ts'
import { createLog } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { SCREENSHOTS } from '#shared/stores/objects/pictures.ts'
import { type Late, openLate } from '#tests/erasure/late-writers.ts'
import { rejection } from '#tests/helpers/rejection.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'
import { until } from '#tests/helpers/wait.ts'

const PICTURE = new TextEncoder().encode('a picture')

describeOnServers('screenshots that nothing names', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
  })
  afterAll(() => late?.close())

  let count = 0
  /** Uploads one. @returns its key */
  const upload = async (): Promise<string> => {
    const key = `${SCREENSHOTS}${(++count).toString(16).padStart(32, '0')}.png`
    await late.context.objects.put(key, PICTURE, { contentType: 'image/png' })
    return key
  }
  const urlOf = (key: string): string =>
    `${late.context.config.publicUrl}/api/event/feedback-image/${key.slice(SCREENSHOTS.length)}`
  const isThere = async (key: string) => (await late.context.objects.head(key)) !== null
  const report = (key: string, objects = late.context.objects) =>
    submitFeedback(
      { ...late.context, objects },
      FeedbackRequest.parse({ category: 'map', description: 'd', screenshot_url: urlOf(key) }),
    )
  const inAWeek = () => Date.now() + UNNAMED_MS + 1_000
  const sweep = (objects = late.context.objects, nowMs = inAWeek()) =>
    deleteUnnamedScreenshots(late.context.db, objects, nowMs, late.context)
  const namedBy = async (key: string) =>
    (await late.context.db.sql`SELECT FROM feedback WHERE screenshot_url = ${urlOf(key)}`).length

  /** The object store, with one method that starts and then waits. */
  function pausing(method: 'head' | 'delete') {
    const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { objects } = late.context
    const paused = async (key: string) => {
      began.resolve()
      await goOn.promise
      return objects[method](key)
    }
    return {
      objects: { ...objects, [method]: paused },
      began: began.promise,
      goOn: () => goOn.resolve(),
    }
  }
  const somebodyWaits = () =>
    until(
      async () =>
        (
          await late.context.db.sql`
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
        ).length > 0,
      'the other one to wait for the lock',
      { timeoutMs: 1_500 },
    )

  test('go after a week; what feedback or a message names stays', async () => {
    const [named, sent, forgotten] = [await upload(), await upload(), await upload()]
    await report(named)
    await late.context.db.sql`
      INSERT INTO message_chunks (message_id, state, recipients, size, body, retry_key, due_at)
      VALUES (gen_random_uuid(), 'sent', '[]', 0,
        ${JSON.stringify([{ type: 'image', originalContentUrl: urlOf(sent) }])}::text::jsonb, gen_random_uuid(), now())`
    expect(await sweep(late.context.objects, Date.now() + UNNAMED_MS - 60_000)).toBe(0)
    expect(await isThere(forgotten)).toBe(true)
    // The scheduler does this at its start and each hour, by the clocks of the stores.
    const { objects } = late.context
    const aged: Objects = {
      ...objects,
      async head(key) {
        const found = await objects.head(key)
        return found && { ...found, modifiedAt: new Date(found.modifiedAt.getTime() - UNNAMED_MS) }
      },
    }
    const maintenance = createMaintenance({ ...late.context, objects: aged })
    maintenance.start()
    await maintenance.stop()
    expect([await isThere(named), await isThere(sent), await isThere(forgotten)]).toEqual([true, true, false])
  })

  test('an address of feedback names one picture, at its end, and no other text of it does', async () => {
    const [first, last] = [await upload(), await upload()]
    const many = `https://x.example/${first.slice(SCREENSHOTS.length)}?${urlOf(last)}`
    await submitFeedback(
      late.context,
      FeedbackRequest.parse({ category: 'map', description: 'd', screenshot_url: many }),
    )
    await sweep()
    expect([await isThere(first), await isThere(last)]).toEqual([false, true])
  })

  test('the texts are read as often for a hundred pictures as for one', async () => {
    const statements = async (pictures: number) => {
      for (let i = 0; i < pictures; i++) await upload()
      let count = 0
      const { db, objects } = late.context
      const counted = <S extends Tx['sql']>(sql: S): S =>
        new Proxy(sql, {
          apply: (target, self, args: never[]) => {
            if (String(args[0]).includes('screenshot_url')) count++
            return Reflect.apply(target as unknown as () => unknown, self, args)
          },
        })
      const counting: Database = {
        ...db,
        sql: counted(db.sql),
        transaction: (run) => db.transaction((tx) => run({ ...tx, sql: counted(tx.sql) })),
      }
      expect(await deleteUnnamedScreenshots(counting, objects, inAWeek(), late.context)).toBe(pictures)
      return count
    }
    await sweep()
    expect([await statements(1), await statements(100)]).toEqual([2, 2])
  })

  test('stay when feedback names them before they are deleted', async () => {
    const key = await upload()
    const store = pausing('head')
    const reported = report(key, store.objects)
    await store.began
    const swept = sweep()
    await somebodyWaits()
    store.goOn()
    expect((await reported).status).toBe('new')
    expect(await swept).toBe(0)
    expect([await isThere(key), await namedBy(key)]).toEqual([true, 1])
  })

  test('are not named by feedback after they are deleted', async () => {
    const key = await upload()
    const store = pausing('delete')
    const swept = sweep(store.objects)
    await store.began
    const reported = rejection(report(key))
    await somebodyWaits()
    store.goOn()
    expect(await swept).toBe(1)
    expect(await reported).toMatchObject({
      httpStatus: 400,
      message: expect.stringContaining('Upload it again'),
    })
    expect([await isThere(key), await namedBy(key)]).toEqual([false, 0])
  })

  test('one that cannot be read or deleted holds up no other; it is counted and logged', async () => {
    const [unread, kept, other] = [await upload(), await upload(), await upload()]
    const { objects, db } = late.context
    const lines: string[] = []
    const metrics = createMetrics('test')
    const failing = (method: 'head' | 'delete', bad: string) => (key: string) =>
      key === bad ? Promise.reject(new ObjectsUnavailable('objects: damaged')) : objects[method](key)
    const poisoned = { ...objects, head: failing('head', unread), delete: failing('delete', kept) } as Objects
    const reporting = { metrics, log: createLog({}, (line) => lines.push(line)) }
    await deleteUnnamedScreenshots(db, poisoned, inAWeek(), reporting)
    expect([await isThere(unread), await isThere(kept), await isThere(other)]).toEqual([true, true, false])
    expect(lines.filter((line) => line.includes('objects: damaged'))).toHaveLength(2)
    expect(await metrics.page()).toMatch(/event_failed_items_total\{.*queue="unnamed screenshots".*\} 2/)
  })

  test('do not hold up feedback while the object store is away', async () => {
    const key = await upload()
    const head = () => Promise.reject(new ObjectsUnavailable('objects: away'))
    await report(key, { ...late.context.objects, head })
    expect(await namedBy(key)).toBe(1)
  })
})
