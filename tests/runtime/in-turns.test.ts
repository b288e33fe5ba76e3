/** Computations in turns of the event loop give the same results as plain ones, and pause often enough. */
import { expect, test } from 'bun:test'
import { groupIntoCrowds } from '#services/tracking/map/crowds.ts'
import { cellAt, MAX_ZOOM } from '#shared/core/map/cells.ts'
import { eachOf, inTurns } from '#shared/runtime/yield-to-event-loop.ts'

test('no more than a few thousand items are looked at between two pauses, however many there are', () => {
  let looked = 0
  let most = 0
  const run = (work: Generator<void, unknown>): void => {
    looked = 0
    for (const _ of work) {
      most = Math.max(most, looked)
      looked = 0
    }
    most = Math.max(most, looked)
  }
  const many = Array.from({ length: 100_000 }, (_, i) => (i * 7_919) % 100_003)
  run(eachOf(many, () => looked++))
  expect(most).toBeLessThanOrEqual(2_000)
  most = 0
  const cells = many.map((n, i) => cellAt(24 + n / 400_000, 120.5 + i / 400_000, MAX_ZOOM))
  const counting = (column: readonly number[]) =>
    new Proxy(column, {
      get(target, at) {
        if (at !== 'length') looked++
        return target[at as unknown as number]
      },
    })
  const people = {
    count: cells.length,
    xs: counting(cells.map(({ x }) => x)),
    ys: cells.map(({ y }) => y),
    times: many,
    claims: many.map((n) => n % 2),
  }
  run(groupIntoCrowds(people, 5))
  expect(most).toBeLessThanOrEqual(2_000)
})

test('others run while a long computation is under way', async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  // Each piece is longer than a turn.
  await inTurns(eachOf(Array.from({ length: 20_000 }), (_, i) => i % 2_000 === 0 && Bun.sleepSync(10)))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(1)
})
