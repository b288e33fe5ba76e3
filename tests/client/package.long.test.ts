/** The client as a package: packed, installed in a fresh project, compiled against its types, run by Node and Bun. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '#tests/helpers/process.ts'

const ROOT = join(import.meta.dir, '../..')
const TSC = join(ROOT, 'node_modules/.bin/tsc')

const PROGRAM = `
import { createClient, createMemoryStore, createTrackQueue, type QueueState } from 'pilgrimage-event-client'

const client = createClient({ baseUrl: process.argv[2]!, identity: { userId: 'me' } })
const answer = await client.checkIn({ lat: 24.1477, lng: 120.6736, timestamp: Date.now() })
const pending: number | string = answer.ok ? answer.data.pending : answer.error.code
const queue = createTrackQueue({ client, store: createMemoryStore() })
await queue.record({ lat: 24.1477, lng: 120.6736, timestamp: Date.now() })
const state: QueueState = await queue.send()
console.log(JSON.stringify({ pending, waiting: state.waiting.points, why: state.why }))
`
/** Types of the other entries, and mistakes that must not compile. */
const TYPES = `
import { createClient, type QueueStore } from 'pilgrimage-event-client'
import { openIndexedDbStore } from 'pilgrimage-event-client/indexed-db'
import { openSqliteStore } from 'pilgrimage-event-client/sqlite'

export const stores: [Promise<QueueStore>, QueueStore] = [openIndexedDbStore('queue'), openSqliteStore('queue.db')]
const client = createClient({ baseUrl: '' })
// @ts-expect-error: a misspelt field
void client.syncTrack({ points: [{ latt: 'typo' }] })
// @ts-expect-error: data without a look at ok
export const unchecked = (await client.readHealth()).data
`

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: 'ES2022',
    module: 'nodenext',
    lib: ['ES2022', 'DOM'],
    // Only the types of `process` come from the repository.
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  },
  files: ['program.ts', 'types.ts'],
}

let project = ''
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'client-package-'))
  const packed = await run(['bun', 'pm', 'pack', '--destination', project], join(ROOT, 'shared/client'))
  expect(packed.code).toBe(0)
  const dependencies = { 'pilgrimage-event-client': 'file:pilgrimage-event-client-1.0.0.tgz' }
  // Uses packages that are already installed, so that the test needs no registry.
  const overrides = { idb: `file:${join(ROOT, 'node_modules/idb')}` }
  await Bun.write(
    join(project, 'package.json'),
    JSON.stringify({ name: 'recorder', type: 'module', dependencies, overrides }),
  )
  expect(await run(['bun', 'install'], project)).toMatchObject({ code: 0 })
})
afterAll(() => {
  rmSync(project, { recursive: true })
  rmSync(join(ROOT, 'shared/client/dist'), { recursive: true, force: true })
})

const run = (command: readonly string[], cwd: string) => runCommand(command, { cwd })

test('compiles under strict, without types of the repository, and runs in Node and Bun', async () => {
  await Bun.write(join(project, 'program.ts'), PROGRAM)
  await Bun.write(join(project, 'types.ts'), TYPES)
  await Bun.write(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  expect(await run([TSC, '--project', project], project)).toEqual({ code: 0, out: '', err: '' })
  using service = Bun.serve({
    port: 0,
    async fetch(request) {
      const { timestamp, points } = (await request.json()) as { timestamp: number; points?: object[] }
      const durable_through = new Date(timestamp || Date.now() + 1_000).toISOString()
      const data = points === undefined ? { pending: 7 } : { accepted: 1, rejected: [], durable_through }
      return Response.json({ ok: true, data })
    },
  })
  for (const runtime of ['node', 'bun'])
    expect(await run([runtime, 'program.js', service.url.origin], project)).toEqual({
      code: 0,
      out: '{"pending":7,"waiting":0,"why":null}\n',
      err: '',
    })
})

test('the published files import nothing but each other, idb and what Bun brings', async () => {
  const folder = join(project, 'node_modules/pilgrimage-event-client')
  const imported = new Set<string>()
  const files = await Array.fromAsync(new Bun.Glob('**/*').scan(folder))
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name)))
    for (const [, name] of (await Bun.file(join(folder, file)).text()).matchAll(/from '([^']+)'/g))
      imported.add(name!)
  const others = [...imported].filter((name) => !name.startsWith('.')).sort()
  expect(others).toEqual(['bun:sqlite', 'idb'])
  expect(files).toContain('README.md')
})
