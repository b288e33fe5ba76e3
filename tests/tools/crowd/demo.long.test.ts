/** `bun run demo` as used by a person: its own service, a second demo sending to it, Ctrl-C. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCrowd } from './crowd.ts'
import { readWay } from './way.ts'
import { cleanEnvironment } from '#tests/helpers/clean-environment.ts'
import { until } from '#tests/helpers/wait.ts'

const ROOT = join(import.meta.dir, '../../..')

let directory = ''
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'demo-test-'))))
afterAll(() => rmSync(directory, { recursive: true }))

/** Starts the command and collects its output. */
function start(line: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(
    [process.execPath, '--no-env-file', join(ROOT, 'tests/tools/crowd/demo.ts'), ...line.split(' ')],
    {
      cwd: directory,
      env: { ...cleanEnvironment(), TMPDIR: directory, EVENT_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const seen = { out: '', err: '' }
  const read = async (from: ReadableStream<Uint8Array>, to: 'out' | 'err') => {
    const decoder = new TextDecoder()
    for await (const bytes of from) seen[to] += decoder.decode(bytes, { stream: true })
  }
  const ended = Promise.all([child.exited, read(child.stdout, 'out'), read(child.stderr, 'err')])
  return { child, seen, ended: async () => ({ code: (await ended)[0], ...seen }) }
}

const number = (text: string, pattern: RegExp): number => Number(pattern.exec(text)![1]!.replaceAll(',', ''))

test('walks with a service of its own; another crowd joins by --url; Ctrl-C ends it and keeps the data it was told to keep', async () => {
  const dataDir = join(directory, 'kept')
  const first = start('--pilgrims 20 --speed 600', { EVENT_DATA_DIR: dataDir })
  const url = await until(() => /listens on (https:\S+)/.exec(first.seen.err)?.[1], 'the address', {
    timeoutMs: 40_000,
  })
  // The second crowd finds the certificate in the data directory, as `replay` does.
  const second = start(`--url ${url} --pilgrims 5 --seed 2 --whole --speed 1e9 --points 300`, {
    EVENT_DATA_DIR: dataDir,
  })
  const joined = await second.ended()
  expect(joined).toMatchObject({ code: 0, err: expect.stringContaining('on phones') })
  expect(number(joined.out, /points +([\d,]+) measured/)).toBeWithin(300, 310)

  const ca = readFileSync(join(dataDir, 'tls/cert.pem'), 'utf8')
  const tokens = JSON.parse(readFileSync(join(dataDir, 'tokens.json'), 'utf8')) as { manager: string }
  const listed = async (): Promise<string> => {
    const headers = { 'x-admin-token': tokens.manager }
    const answer = await fetch(`${url}/api/event/admin/users?limit=200`, { headers, tls: { ca } })
    return answer.text()
  }
  const isThere = (text: string, seed: number, pilgrims: number): boolean =>
    createCrowd({ pilgrims, seed, way: readWay(), sparseUntilS: 0 }).people.some(({ userId }) =>
      text.includes(`"${userId}"`),
    )
  await until(
    async () => {
      const text = await listed()
      return isThere(text, 1, 20) && isThere(text, 2, 5)
    },
    'both crowds',
    // A manager has 30 requests a minute.
    { everyMs: 2_100 },
  )

  first.child.kill('SIGINT')
  const ended = await first.ended()
  expect(ended).toMatchObject({ code: 0, err: expect.stringContaining(`The data stays in ${dataDir}`) })
  expect(ended.out).toMatch(/^points +[\d,]+ measured/)
  // The service has stopped with it.
  const asked = fetch(`${url}/health`, { tls: { ca } }).then(
    () => 'answers',
    () => 'is gone',
  )
  expect(await asked).toBe('is gone')
  expect(readdirSync(dataDir)).toContain('demo.json')
})

test('ends by itself with --exit, and leaves nothing behind', async () => {
  const own = mkdtempSync(join(directory, 'own-'))
  const demo = start('--pilgrims 3 --speed 1e9 --whole --points 200 --exit', { TMPDIR: own })
  const { code, out } = await demo.ended()
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('measured') })
  expect(number(out, /measured, ([\d,]+) stored/)).toBeGreaterThan(190)
  expect(readdirSync(own)).toEqual([])
})

test('refuses a data directory that is not a demo’s', async () => {
  const dataDir = mkdtempSync(join(directory, 'other-'))
  writeFileSync(join(dataDir, 'tokens.json'), '{}')
  const { code, err } = await start('--pilgrims 3', { EVENT_DATA_DIR: dataDir }).ended()
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('holds other data') })
  expect(readdirSync(dataDir)).toEqual(['tokens.json'])
})

test('says in a sentence that nobody listens at --url', async () => {
  const { code, err } = await start(
    '--url https://localhost:1 --pilgrims 1 --speed 1e9 --whole --points 3',
  ).ended()
  expect(code).toBe(1)
  expect(err).toContain('https://localhost:1')
})

test.concurrent.each([
  ['--pilgrims 0', '--pilgrims must be a number from 1'],
  ['--pilgrims 1.5', '--pilgrims must be a whole number'],
  ['--from 200', '--from must be a number from 0 to 191'],
  ['--whole --from 3', 'exclude each other'],
  ['--token abc', '--token belongs to --url'],
  ['--url http://walk.example', '--url must look like https://'],
])('refuses %p in a sentence', async (line, sentence) => {
  const { code, err } = await start(line).ended()
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(sentence) })
})
