/** A queue for expensive work: abandoned work is not started. */
import { expect, test } from 'bun:test'
import { createBoundedQueue } from '#shared/runtime/bounded-queue.ts'
import { rejection } from '#tests/helpers/rejection.ts'

test('work that has not begun in time never begins, and keeps nobody out', async () => {
  const queue = createBoundedQueue({ running: 1, waiting: 1, full: 'Busy.' })
  const first = Promise.withResolvers<string>()
  const running = queue.run(() => first.promise)
  let begun = 0
  const late = () => Promise.resolve(begun++)
  expect(await rejection(queue.run(late, 10))).toMatchObject({ httpStatus: 503, message: 'Busy.' })
  // Its place is free again, for one.
  const next = queue.run(() => Promise.resolve('next'), 60_000)
  expect(await rejection(queue.run(late))).toMatchObject({ httpStatus: 503 })
  first.resolve('first')
  expect([await running, await next, begun, queue.size]).toEqual(['first', 'next', 0, 0])
})
