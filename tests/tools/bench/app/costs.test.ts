/** The cost of a visible app is limited in every state, and the benchmark's README has the same table. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { appTable, isRefused, measureAppRows } from './costs.ts'

test('no state costs more than its bound, and the page has what `bun run bench --app` prints', async () => {
  const measured = await measureAppRows()
  for (const [row, { requests, kB, wakes, points, largest }] of measured) {
    const { name, most, state } = row
    expect({
      name,
      requests: requests <= most.requests,
      kB: kB <= most.kB,
      wakes: wakes <= most.wakes,
    }).toEqual({
      name,
      requests: true,
      kB: true,
      wakes: true,
    })
    const isHeld = state?.event === 'paused' || state?.erased || state?.withdrawn
    if (isHeld) expect({ name, points }).toEqual({ name, points: 0 })
    // After a rejection a single point is tried.
    if (isRefused(row)) expect(points - largest).toBeLessThan(requests)
    if (name.startsWith('walking')) expect(points).toBeGreaterThan(100)
  }
  const page = await Bun.file(join(import.meta.dir, '../README.md')).text()
  const table = appTable(measured).split('\n')
  const start = page.indexOf('| state', page.indexOf('## What an app costs'))
  const lines = page.slice(start).split('\n').slice(0, table.length)
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---'))).toEqual(table)
})
