/** Timeouts. */
import { expect, test } from 'bun:test'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

const never = new Promise<never>(() => undefined)

test('work that settles in time determines the outcome, including a failure', async () => {
  expect(await within(Promise.resolve('done'), 1_000, () => 'late')).toBe('done')
  expect(within(Promise.reject(new Error('broken')), 1_000, () => 'late')).rejects.toThrow('broken')
})

test('late work times out after its time and not before', async () => {
  const started = performance.now()
  expect(await within(never, 60, () => 'late')).toBe('late')
  expect(performance.now() - started).toBeGreaterThanOrEqual(59)
  expect(
    within(
      never,
      1,
      rejectWith(() => new Error('too late')),
    ),
  ).rejects.toThrow('too late')
})

test('each of many waits with the same duration ends at its own time', async () => {
  const started = performance.now()
  const ends: Promise<number>[] = []
  for (let i = 0; i < 5; i++) {
    // One of two waits ends at once; the other is unaffected.
    void within(Promise.resolve(), 80, () => 'late')
    ends.push(within<never, number>(never, 80, () => performance.now() - started))
    await Bun.sleep(20)
  }
  for (const [i, end] of (await Promise.all(ends)).entries()) expect(end).toBeGreaterThanOrEqual(20 * i + 79)
})

test('a wait that begins when another one ends also times out', async () => {
  const again = await within(never, 20, () => within(never, 20, () => 'second'))
  expect(again).toBe('second')
})
