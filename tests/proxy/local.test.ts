/**
 * The embedded run: who can reach it, the permissions of its files, and its errors when the port or directory is in
 * use.
 */
import { afterAll, expect, test } from 'bun:test'
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { lockDataDirectory } from '#shared/runtime/data-directory-lock.ts'
import { startEmbedded } from '#tests/helpers/embedded.ts'
import { copyMigratedDatabase } from '#tests/helpers/migrated-database.ts'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { freePort } from '#tests/helpers/servers.ts'
import { until } from '#tests/helpers/wait.ts'
import { reachability, urlOf } from '#proxy/local/welcome.ts'

const START_MS = 120_000
const directories: string[] = []
const newDir = async (): Promise<string> => {
  const dir = await newDirectory('local')
  directories.push(dir)
  return dir
}
afterAll(async () => {
  for (const dir of directories) await rm(dir, { recursive: true, force: true })
})

/** Whether the address accepts connections. */
const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.on('connect', () => (socket.destroy(), resolve(true))).on('error', () => resolve(false))
  })

/** A start that fails: its exit code, its output, and how long it took. */
async function failedStart(env: Record<string, string>) {
  const startedAt = performance.now()
  const command = [process.execPath, '--no-env-file', 'proxy/local.ts']
  const { code, out, err } = await runCommand(command, { env, timeout: START_MS })
  return { code, said: out + err, ms: performance.now() - startedAt }
}

/** Paths in a directory that others may read, write or enter. */
async function openPaths(dir: string): Promise<string[]> {
  const paths = [dir, ...(await readdir(dir, { recursive: true })).map((name) => join(dir, name))]
  const modes = await Promise.all(
    paths.map(async (path) => ({ path, mode: (await stat(path)).mode & 0o077 })),
  )
  return modes.filter(({ mode }) => mode !== 0).map(({ path }) => path)
}

test(
  'only its own machine can reach it, only the owner can read its files, and a restart waits for the earlier run (long)',
  async () => {
    const [dir, port] = [await newDir(), freePort()]
    // The directory was created beforehand, open to all.
    await chmod(dir, 0o755)
    const settings = { EVENT_DATA_DIR: dir, EVENT_PORT: String(port) }
    const first = await startEmbedded(settings)
    expect(await answers('127.0.0.1', port)).toBe(true)
    // Stands for another machine: a different address.
    expect(await answers('127.0.0.2', port)).toBe(false)
    expect(await openPaths(dir)).toEqual([])
    // Files of an earlier release, and a request that delays the end of the first run.
    await chmod(join(dir, 'db/PG_VERSION'), 0o666)
    await mkdir(join(dir, 'objects/old'), { recursive: true })
    await writeFile(join(dir, 'objects/old/card.png'), 'png')
    await chmod(join(dir, 'objects/old'), 0o777)
    await chmod(join(dir, 'objects/old/card.png'), 0o644)
    const body = new ReadableStream({ pull: () => Bun.sleep(4_000) })
    const slow = first.fetch('/api/event/feedback', { method: 'POST', body })
    void slow.catch(() => undefined)
    await Bun.sleep(200)
    const stopped = first.stop()
    const second = await startEmbedded({ ...settings, EVENT_HOST: '0.0.0.0' })
    await stopped
    expect(await answers('127.0.0.2', port)).toBe(true)
    expect(await openPaths(dir)).toEqual([])
    await second.stop()
  },
  3 * START_MS,
)

test('the welcome message says who can reach it, and how to allow phones', () => {
  expect(reachability('127.0.0.1', 8443, true)).toContain('EVENT_HOST=0.0.0.0 and open https://')
  expect(reachability('192.0.2.7', 8443, false)).toBe(
    'Phones in the same network can reach it at https://192.0.2.7:8443',
  )
  expect(reachability('0.0.0.0', 8443, true)).toContain('EVENT_IDENTITY is open')
  expect(urlOf('0.0.0.0', 8443)).toBe('https://localhost:8443')
  expect(urlOf('2001:db8::7', 8443)).toBe('https://[2001:db8::7]:8443')
})

test(
  'a port in use is reported immediately, and no file is created',
  async () => {
    const otherProgram = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
    const dir = join(await newDir(), 'data')
    const { code, said, ms } = await failedStart({
      EVENT_DATA_DIR: dir,
      EVENT_PORT: String(otherProgram.port),
    })
    expect(code).toBe(1)
    expect(said).toContain(`Port ${otherProgram.port} is in use by another program`)
    expect(ms).toBeLessThan(25_000)
    expect(await stat(dir).catch(() => null)).toBeNull()
    // In the directory of an earlier run, nothing is changed either.
    lockDataDirectory(dir)()
    const before = await readdir(dir)
    const again = await failedStart({ EVENT_DATA_DIR: dir, EVENT_PORT: String(otherProgram.port) })
    expect(again.said).toContain('is in use by another program')
    expect(await readdir(dir)).toEqual(before)
    otherProgram.stop(true)
  },
  START_MS,
)

test(
  'an address of another machine is reported',
  async () => {
    const dir = join(await newDir(), 'data')
    const port = String(freePort())
    const { code, said } = await failedStart({
      EVENT_DATA_DIR: dir,
      EVENT_PORT: port,
      EVENT_HOST: '192.0.2.1',
    })
    expect(code).toBe(1)
    expect(said).toContain('192.0.2.1 is not an address of this machine')
  },
  START_MS,
)

test('a directory that others may enter, and that contains other files, is refused and left unchanged', async () => {
  const home = await newDir()
  await writeFile(join(home, 'letter.txt'), 'dear')
  await chmod(home, 0o755)
  expect(() => lockDataDirectory(home)).toThrow(`chmod 700 ${home}`)
  expect((await stat(home)).mode & 0o777).toBe(0o755)
  expect(await readdir(home)).toEqual(['letter.txt'])
})

/** Standard output of a start, and the number of its generated tokens in it. */
async function saidBy(command: string[]) {
  const dir = await newDir()
  await copyMigratedDatabase(dir)
  const { PATH, HOME } = process.env
  const child = Bun.spawn(command, {
    cwd: join(import.meta.dir, '../..'),
    env: { PATH, HOME, EVENT_PORT: '0', EVENT_DATA_DIR: dir },
    stdout: 'pipe',
  })
  const decoder = new TextDecoder()
  let said = ''
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk, { stream: true })
    if (said.includes('Ctrl-C stops it')) break
  }
  child.kill()
  await child.exited
  const tokens = Object.values((await Bun.file(join(dir, 'tokens.json')).json()) as Record<string, string>)
  expect(tokens).toHaveLength(3)
  return { said, dir, shown: tokens.filter((token) => said.includes(token)).length }
}

test(
  'a start says nothing of its own certificate, which it reads once it listens',
  async () => {
    const [dir, port] = [await newDir(), freePort()]
    await copyMigratedDatabase(dir)
    const settings = { EVENT_DATA_DIR: dir, EVENT_PORT: String(port) }
    const child = Bun.spawn([process.execPath, '--no-env-file', 'proxy/local.ts'], {
      cwd: join(import.meta.dir, '../..'),
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
      stdout: 'pipe',
    })
    const printed = new Response(child.stdout).text()
    const readHealth = async () =>
      (await fetch(`https://localhost:${port}/health`, {
        tls: { rejectUnauthorized: false },
      } as RequestInit).then((answer) => answer.json())) as {
        data: { certificates: { localhost: string | null } }
      }
    try {
      await until(async () => (await readHealth()).data.certificates.localhost, 'the certificate', {
        timeoutMs: START_MS / 2,
        // An address may read at most twice a second.
        everyMs: 1_000,
      })
    } finally {
      child.kill()
    }
    expect((await printed).split('\n')[0]).not.toContain('certificate')
    expect(await printed).not.toContain('cannot be read')
  },
  START_MS,
)

test(
  'a start shows its tokens on a terminal, and names their file elsewhere, which may be a log (long)',
  async () => {
    const command = [process.execPath, '--no-env-file', 'proxy/local.ts']
    const piped = await saidBy(command)
    expect(piped.shown).toBe(0)
    expect(piped.said).toContain(`${piped.dir}/tokens.json`)
    const terminal = await saidBy(['script', '-qec', command.join(' '), '/dev/null'])
    expect(terminal.shown).toBe(3)
  },
  START_MS,
)
