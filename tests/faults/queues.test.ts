/** The table of queues refers to existing tests and metrics. */
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '../..')
const table = await Bun.file(join(import.meta.dir, 'QUEUES.md')).text()
const named = (form: RegExp): string[] => [...new Set([...table.matchAll(form)].map(([, name]) => name!))]

test('each test file exists', () => {
  const files = named(/`(tests\/[^`]+\.ts)`/g)
  expect(files.length).toBeGreaterThan(15)
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
})

test('each metric is one of the services’', async () => {
  let source = ''
  for await (const file of new Glob('{services,shared}/**/*.ts').scan(ROOT))
    source += await Bun.file(join(ROOT, file)).text()
  const metrics = named(/`(event_\w+)`/g)
  expect(metrics.length).toBeGreaterThan(5)
  expect(metrics.filter((name) => !source.includes(`'${name}'`))).toEqual([])
})
