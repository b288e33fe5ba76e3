/** Waiting, but not for ever. */
import { expect, test } from 'bun:test'
import { rejectWith, within } from '#shared/runtime/deadline.ts'

const never = new Promise<never>(() => undefined)

test('work that is done in time is its outcome, a failure too', async () => {
  expect(await within(Promise.resolve('done'), 1_000, () => 'late')).toBe('done')
  expect(within(Promise.reject(new Error('broken')), 1_000, () => 'late')).rejects.toThrow('broken')
})

test('work that is not is late, after its time and not before', async () => {
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

test('of many waits of one length each ends at its own time, whatever the others do', async () => {
  const started = performance.now()
  const ends: Promise<number>[] = []
  for (let i = 0; i < 5; i++) {
    // One of two is done at once; it takes no other wait along.
    void within(Promise.resolve(), 80, () => 'late')
    ends.push(within<never, number>(never, 80, () => performance.now() - started))
    await Bun.sleep(20)
  }
  for (const [i, end] of (await Promise.all(ends)).entries()) expect(end).toBeGreaterThanOrEqual(20 * i + 79)
})

test('a wait that begins when another one ends is not forgotten', async () => {
  const again = await within(never, 20, () => within(never, 20, () => 'second'))
  expect(again).toBe('second')
})
