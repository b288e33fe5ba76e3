/** `bun run replay` counts no distance to rough places. `tests/recorded-file` covers the formats of recorders. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { gpx, walk } from './recorded-walk.ts'

const WALK = walk(90)

let directory = ''
beforeAll(async () => {
  directory = await newDirectory('recorded-files')
})
afterAll(() => rm(directory, { recursive: true }))

async function dryRun(name: string, content: string | Uint8Array): Promise<{ code: number; out: string }> {
  const path = join(directory, name)
  await Bun.write(path, content)
  const { code, out, err } = await runCommand([
    process.execPath,
    'tests/tools/replay/replay.ts',
    path,
    '--dry-run',
    '--keep-time',
  ])
  return { code, out: out + err }
}

test('no distance is measured to places that the recorder knows to be rough', async () => {
  const places = WALK.map(({ lat, lng, t }, i) => {
    const isRough = i === 30 || i === 60
    const time = `<time>${new Date(t).toISOString()}</time>`
    const accuracy = `<extensions><hAcc>${isRough ? 1_414 : 5}</hAcc></extensions>`
    return `<trkpt lat="${isRough ? lat + 0.01 : lat}" lon="${lng}">${time}${accuracy}</trkpt>`
  })
  const { out } = await dryRun('health.gpx', gpx(`<trk><trkseg>${places.join('')}</trkseg></trk>`))
  // The places next to a rough one are more than 30 s apart, so the last segment ends at the last place.
  expect(out).toContain('length      2.23 km')
  expect(out).toContain('carbon      0.000 kg')
})
