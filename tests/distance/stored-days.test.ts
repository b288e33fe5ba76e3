/** The points of a local day, as read for folding the day again. */
import { expect, test } from 'bun:test'
import { readDayInPages, readPointsOfDays } from '#shared/points/totals/stored-days.ts'
import { describeFlushHarness, NOON } from '#tests/scheduler/flush-harness.ts'
import { point } from '#tests/scheduler/walks.ts'

describeFlushHarness('points of a day', (harness) => {
  test('begin with the first millisecond of the day and end before that of the next', async () => {
    const day = harness.calendar.day(NOON)
    const [fromMs, toMs] = harness.calendar.span(day)
    const times = [fromMs - 1, fromMs, NOON, toMs - 1, toMs]
    harness.nowMs = toMs
    await harness.buffer(
      'anna',
      times.map((t) => point({ sentMs: t, recordedMs: t })),
    )
    await harness.flush()
    const pages: number[][] = []
    for await (const page of readDayInPages(harness.db, 'anna', day, harness.calendar))
      pages.push(page.points.map(({ t }) => t))
    expect(pages).toEqual([[fromMs, NOON, toMs - 1], []])
    const points = await readPointsOfDays(harness.db, [{ userId: 'anna', day }], harness.calendar)
    expect((points.get('anna') ?? []).map(({ t }) => t).sort((a, b) => a - b)).toEqual([
      fromMs,
      NOON,
      toMs - 1,
    ])
  })
})
