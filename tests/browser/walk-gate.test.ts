/** Everything that the pilgrims' app sends passes one check: no file of it makes requests otherwise. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const APP = join(import.meta.dir, '../../proxy/pages/walk')
/** Files with other requests, and their purpose. */
const OTHERS: Readonly<Record<string, string>> = {
  'session/service.ts': 'createClient(',
}
const REQUEST = /\b(?:createClient|fetch|sendBeacon)\(|XMLHttpRequest|WebSocket\b|EventSource\b/g

test('no request of the pilgrims’ app passes by the gate', () => {
  const found: Record<string, string> = {}
  for (const file of new Bun.Glob('**/*.{ts,tsx}').scanSync({ cwd: APP }))
    for (const [request] of readFileSync(join(APP, file), 'utf8').matchAll(REQUEST)) found[file] = request
  expect(found).toEqual(OTHERS)
})
