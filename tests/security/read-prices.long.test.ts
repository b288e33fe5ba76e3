/**
 * Reads that are computed from pending points have a price: an address cannot repeat them without limit. A
 * card, which has to be drawn, costs more.
 */
import { expect, test } from 'bun:test'
import { post } from '#tests/helpers/pilgrim.ts'
import { SHARES } from '#shared/service/security/request-prices.ts'
import { openEmbeddedTestStack } from '#tests/helpers/open-test-stack.ts'
import { checkIn, healthOf, newAppId, PLACE, syncTrack, type TestStack } from '#tests/helpers/test-stack.ts'

/** Profile reads per address in {@link WINDOW_MS}; own data are read from a service with a smaller share. */
const READS = 60
const WINDOW_MS = 5_000
/** Their price is 40 reads. */
const PENDING = 4_000

type Read = (stack: TestStack, userId: string) => Promise<Response>
const READING: Readonly<Record<string, Read>> = {
  profile: (stack, userId) => stack.fetch(`/api/event/user/${userId}`),
  'own walk': (stack, user_id) => post(stack, 'me/walk', { user_id }),
  'own export': (stack, user_id) => post(stack, 'me/export', { user_id }),
}

test('an address gets few answers that are made from thousands of pending points', async () => {
  const stack = await openEmbeddedTestStack({
    EVENT_FLUSH_SECONDS: '86400',
    EVENT_LIMIT_ADDRESS: String(READS / SHARES['survey-profile']!.reads),
    EVENT_LIMIT_ADDRESS_SECONDS: String(WINDOW_MS / 1_000),
  })
  const sendTrack = async (userId: string): Promise<void> => {
    for (let from = 0; from < PENDING; from += 1_000) {
      const points = Array.from({ length: 1_000 }, (_, i) => ({
        ...PLACE,
        timestamp: Date.now() - (from + i + 1) * 1_000,
      }))
      // Writes have a separate window, which a body of this size nearly fills.
      while ((await syncTrack(stack, userId, points)).status === 429) await Bun.sleep(WINDOW_MS)
    }
  }
  const lastFlush = async () => (await healthOf(stack)).last_flush
  /** The responses while the points are pending: the scheduler flushes when it starts. */
  const answersOf = async (read: Read): Promise<{ light: number[]; heavy: number[] }> => {
    for (;;) {
      const flush = await lastFlush()
      const [light, heavy] = [newAppId(), newAppId()]
      await checkIn(stack, light)
      await sendTrack(heavy)
      const answers = { light: await repeat(3, read, light), heavy: await repeat(4, read, heavy) }
      await Bun.sleep(WINDOW_MS)
      if (flush !== null && (await lastFlush()) === flush) return answers
    }
  }
  const repeat = async (times: number, read: Read, userId: string): Promise<number[]> => {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push((await read(stack, userId)).status)
    return statuses
  }
  try {
    for (const [name, read] of Object.entries(READING))
      expect({ name, ...(await answersOf(read)) }).toEqual({
        name,
        light: [200, 200, 200],
        heavy: name === 'profile' ? [200, 200, 429, 429] : [200, 429, 429, 429],
      })
  } finally {
    await stack.close()
  }
}, 180_000)
