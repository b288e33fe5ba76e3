/** Copies in the kv that differ from Postgres are detected and repaired, even during a concurrent change. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { countPhotos } from '#services/survey-profile/count-photos.ts'
import { setParticipantStatus } from '#services/survey-profile/write-profile.ts'
import { mendKvCopies, updateLiveMapPresence } from '#shared/pilgrims/kv-copies.ts'
import { photoCountKey } from '#shared/pilgrims/photo-count-cache.ts'
import { lockPersonShared } from '#shared/pilgrims/person-lock.ts'
import { type Kv, partitionOf, userHash } from '#shared/stores/kv/kv.ts'
import { LoggableError } from '#shared/runtime/log.ts'
import { createMetrics } from '#shared/runtime/metrics.ts'
import { erasures, pilgrims } from '#shared/stores/schema/tables.ts'
import { type Late, newUser, openLate } from '#tests/erasure/late-writers.ts'
import { restore, sync } from '#tests/kv/drivers.ts'
import { describeOnServers } from '#tests/helpers/suite.ts'

describeOnServers('the copies in the kv', () => {
  let late: Late
  beforeAll(async () => {
    late = await openLate()
    await late.context.kv.setStatus({ status: 'active', version: 1, message: null })
  })
  afterAll(() => late?.close())

  const add = async (fields: { participantStatus?: string; consentWithdrawn?: boolean } = {}) => {
    const userId = newUser()
    await late.context.db.orm
      .insert(pilgrims)
      .values({ userId, createdAt: new Date(), updatedAt: new Date(), ...fields })
    return userId
  }
  const copyOf = async (userId: string) => {
    const { kv } = late.context
    const partition = partitionOf(userId, kv.partitions)
    const [hidden, refused] = await Promise.all([kv.hidden(partition), kv.refused(partition)])
    return { hidden: hidden.includes(userId), refused: refused.includes(userId) }
  }

  test('of a photo count are of known pilgrims only: invented ids fill no store', async () => {
    const [known, invented] = [await add(), newUser()]
    for (const userId of [known, invented])
      expect(await countPhotos(late.context, userId)).toEqual({ userId, photo_count: 0 })
    const cached = (userId: string) => late.context.kv.cached(photoCountKey(userId))
    expect([await cached(known), await cached(invented)]).toEqual(['0', null])
  })

  test('of presence and consent are those of Postgres after a comparison', async () => {
    const { kv } = late.context
    const people = {
      withdrawn: await add({ participantStatus: 'withdrawn' }),
      refusing: await add({ consentWithdrawn: true }),
      returned: await add(),
      again: await add({ participantStatus: 'withdrawn' }),
      unknown: newUser(),
      walking: await add(),
    }
    await kv.hide(people.returned, true, true)
    await kv.hide(people.again, true, true)
    await kv.hide(people.unknown, true)
    expect(await mendKvCopies(late.context)).toBe(5)
    const shown = { hidden: false, refused: false }
    expect(await copyOf(people.withdrawn)).toEqual({ hidden: true, refused: false })
    expect(await copyOf(people.refusing)).toEqual({ hidden: true, refused: true })
    expect(await copyOf(people.again)).toEqual({ hidden: true, refused: false })
    for (const userId of [people.returned, people.unknown, people.walking])
      expect(await copyOf(userId)).toEqual(shown)
    expect(await mendKvCopies(late.context)).toBe(0)
  })

  test('of who comes back are no difference, and somebody who was hidden by mistake comes back alike', async () => {
    const { kv } = late.context
    const [back, mistaken] = [await add(), await add()]
    const until = async (userId: string) => {
      const moved = await kv.moved(partitionOf(userId, kv.partitions), 0, 1_000)
      return moved.find((one) => one.userId === userId)!.hiddenUntilMs
    }
    for (const userId of [back, mistaken]) {
      await restore(kv, sync(userId, [], { position: { t: 1, lat: 24, lng: 121 } }))
      await kv.hide(userId, true)
    }
    await kv.hide(back, false)
    const returnsMs = await until(back)
    expect(await mendKvCopies(late.context)).toBe(1)
    expect(await until(back)).toBe(returnsMs)
    expect((await until(mistaken)) % 3_600_000).toBe(0)
    expect(await mendKvCopies(late.context)).toBe(0)
  })

  test('of erasures are those of Postgres, in every partition', async () => {
    const { db, kv } = late.context
    const [lost, anew] = [newUser(), newUser()].map(userHash) as [string, string]
    const at = new Date('2026-04-12T04:00:00Z')
    await db.orm.insert(erasures).values([
      { userHash: lost, generation: 2, erasedAt: at, stands: true },
      { userHash: anew, generation: 1, erasedAt: at, stands: false },
    ])
    await kv.storeErasures([
      { userHash: lost, generation: 1, erasedMs: at.getTime() - 1, stands: true },
      { userHash: anew, generation: 1, erasedMs: at.getTime(), stands: true },
    ])
    expect(await mendKvCopies(late.context)).toBe(2)
    for (let partition = 0; partition < kv.partitions; partition++) {
      const held = await kv.erased(partition)
      expect(held).toContainEqual({ userHash: lost, generation: 2, erasedMs: at.getTime(), stands: true })
      expect(held).toContainEqual({ userHash: anew, generation: 1, erasedMs: at.getTime(), stands: false })
    }
    expect(await mendKvCopies(late.context)).toBe(0)
  })

  test('one that cannot be mended holds up no other, and is counted', async () => {
    const { kv } = late.context
    const [bad, good] = [
      await add({ participantStatus: 'withdrawn' }),
      await add({ participantStatus: 'withdrawn' }),
    ]
    const metrics = createMetrics('test')
    const poisoned: Kv = {
      ...kv,
      erased: () => Promise.reject(new LoggableError('damaged')),
      hide: (userId, ...is) =>
        userId === bad ? Promise.reject(new LoggableError('bad')) : kv.hide(userId, ...is),
    }
    for (let round = 0; round < 2; round++) await mendKvCopies({ ...late.context, metrics, kv: poisoned })
    expect([(await copyOf(bad)).hidden, (await copyOf(good)).hidden]).toEqual([false, true])
    const page = await metrics.page()
    expect(page).toMatch(/queue="copies of presence".*\} 2/)
    expect(page).toMatch(/queue="comparisons of the kv".*\} 2/)
    expect(await mendKvCopies(late.context)).toBe(1)
    expect((await copyOf(bad)).hidden).toBe(true)
  })

  test('a change that is not committed yet is waited for, and is not undone', async () => {
    const { db, kv } = late.context
    const userId = await add()
    const told = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const change = db.transaction(async (tx) => {
      await lockPersonShared(tx, userId)
      const [row] = await tx.orm
        .update(pilgrims)
        .set({ participantStatus: 'withdrawn' })
        .where(eq(pilgrims.userId, userId))
        .returning()
      await updateLiveMapPresence(kv, userId, { ...row!, participantStatus: 'active' }, row!)
      told.resolve()
      await commit.promise
    })
    await told.promise
    const mending = mendKvCopies(late.context)
    expect(await Promise.race([mending.then(() => 'mended'), Bun.sleep(300).then(() => 'waits')])).toBe(
      'waits',
    )
    commit.resolve()
    await Promise.all([change, mending])
    expect(await copyOf(userId)).toEqual({ hidden: true, refused: false })
  })

  test('of the number of photos are zero while their pilgrim has withdrawn', async () => {
    const { db, kv } = late.context
    const userId = await add()
    await db.orm.update(pilgrims).set({ photoCount: 4 }).where(eq(pilgrims.userId, userId))
    const photos = async () => (await countPhotos(late.context, userId)).photo_count
    const setStatus = (status: 'active' | 'withdrawn') =>
      setParticipantStatus(late.context, { user_id: userId, status })
    expect([await photos(), await photos()]).toEqual([4, 4])
    await setStatus('withdrawn')
    expect([await photos(), await photos()]).toEqual([0, 0])
    await setStatus('active')
    expect([await photos(), await kv.cached(photoCountKey(userId))]).toEqual([4, '4'])
  })
})
