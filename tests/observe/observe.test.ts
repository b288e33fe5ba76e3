/** What is written of metrics is what the services expose. */
import { expect, test } from 'bun:test'
import { HANDBOOK, withTable } from './handbook.ts'

test('the handbook has the table of metrics (`bun tests/observe/handbook.ts` writes it)', async () => {
  const text = await Bun.file(HANDBOOK).text()
  expect(text).toBe(withTable(text))
})
