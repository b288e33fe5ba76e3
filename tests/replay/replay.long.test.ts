import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replay } from './replay.ts'
import { recompute } from './report.ts'
import { createScreen } from './terminal.ts'
import { gpxOf, walk } from './recorded-walk.ts'

let dir = ''
let file = ''

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'replay-'))
  file = join(dir, 'walk.gpx')
  await Bun.write(file, gpxOf(walk(200)))
})
afterAll(() => rm(dir, { recursive: true }))

/** Runs the command in this process; `columns` makes its progress a terminal. */
async function run(args: readonly string[], columns?: number) {
  let out = ''
  let err = ''
  const screen = createScreen(
    { write: (text) => (out += text) },
    { write: (text) => (err += text), ...(columns === undefined ? {} : { isTTY: true, columns }) },
  )
  const code = await replay(args, { dataDir: dir, port: '8443' }, screen)
  return { code, out, err }
}

/** An address where nothing listens: the port was free a moment ago. */
function deadAddress(): string {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return `https://127.0.0.1:${port}`
}

test('a dry run shows what the service would count, and sends nothing', async () => {
  const { code, out } = await run([file, '--dry-run', '--keep-time', '--batch', '50', '--url', deadAddress()])
  expect(code).toBe(0)
  // 199 steps of 20 s at 4.5 km/h, less what stays under 30 s at the end of the pairs.
  expect(recompute(walk(200)).km).toBeCloseTo(4.95, 2)
  expect(out).toContain('length      4.95 km')
  expect(out).toContain('points      200 (tracks: 1, segments: 1)')
  expect(out).toContain('recorded    2026-04-12T01:00:00.000Z to 2026-04-12T02:06:20.000Z (1 h 6 min)')
  expect(out).toContain('requests    5, the track moved to end at 2026-04-12T02:06:20.000Z')
})

test('a drive is recomputed with the carbon of a bus', () => {
  const { km, kg } = recompute(walk(100, { stepS: 60, kmh: 40 }))
  expect(km).toBeCloseTo(66, 1)
  expect(kg).toBeCloseTo(km * 0.47515, 3)
})

describe('faults end in a sentence and an exit code', () => {
  test('help, and a wrong command line', async () => {
    const help = await run(['--help'])
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toContain('bun run replay <file.gpx> --user <id>')
    expect(await run([file])).toEqual({
      code: 2,
      out: '',
      err: 'Name the pilgrim: --user <id>. (--help lists all options)\n',
    })
  })

  test('no such file', async () => {
    const { code, err } = await run([join(dir, 'none.gpx'), '--user', 'u'])
    expect(code).toBe(1)
    expect(err).toMatch(/^The file cannot be read: .*none\.gpx/)
  })

  test('an authority that is no certificate', async () => {
    const { code, err } = await run([file, '--user', 'u', '--url', deadAddress(), '--ca', file])
    expect(code).toBe(1)
    expect(err).toMatch(/walk\.gpx holds no certificate/)
  })

  test('nobody there: tried again after a wait, given up, and told how to go on', async () => {
    const started = performance.now()
    const url = deadAddress()
    const args = ['--user', 'u', '--url', url, '--tries', '2', '--ends', '2026-04-12T09:30:00Z']
    const { code, out, err } = await run([file, ...args])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(performance.now() - started).toBeGreaterThanOrEqual(1_000)
    expect(err).toContain(
      `Nothing listens at ${url}. Start the service there (bun start), or check --url. Waiting 1 s.`,
    )
    expect(err).toContain('Given up after 2 tries.')
    expect(err).toContain('To go on, add --ends 2026-04-12T09:30:00.000Z: what is stored counts once.')
  })

  test('on a terminal the wait counts down in a line that never wraps', async () => {
    const { err } = await run(
      [file, '--user', 'u', '--url', deadAddress(), '--tries', '2', '--half', '2'],
      60,
    )
    const drawn = err.split('\r\u001b[2K').filter((line) => line !== '' && !line.includes('\n'))
    expect(drawn[0]).toStartWith('1 s … Nothing listens at')
    for (const line of drawn) expect(line.length).toBeLessThan(60)
    expect(err).toMatch(/The other half belongs to it with --half 1 --ends 20\S+Z\n/)
  })
})
