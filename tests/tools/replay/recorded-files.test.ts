/** `bun run replay` reads the files of recorders. Each of these was once rejected, or counted too high. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newDirectory, runCommand } from '#tests/helpers/process.ts'
import { zipOf } from '#tests/recorded-file/zip-of.ts'
import { gpx, gpxOf, walk } from './recorded-walk.ts'

const WALK = walk(90)
const TEXT = gpxOf(WALK)
const KM = 'length      2.20 km'

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

const timed = (write: (iso: string) => string): string =>
  TEXT.replaceAll(/<time>(.*?)<\/time>/g, (_, iso: string) => `<time>${write(iso)}</time>`)

const pointAt = (time: string): string => `<trkpt lat="24" lon="120.5"><time>${time}</time></trkpt>`

const kml = `<kml xmlns:gx="http://www.google.com/kml/ext/2.2"><Placemark><gx:Track>${WALK.map(
  ({ lat, lng, t }) => `<when>${new Date(t).toISOString()}</when><gx:coord>${lng} ${lat} 0</gx:coord>`,
).join('')}</gx:Track></Placemark></kml>`

const tcx = `<TrainingCenterDatabase><Activities><Activity><Lap><Track>${WALK.map(
  ({ lat, lng, t }) =>
    `<Trackpoint><Time>${new Date(t).toISOString()}</Time><Position><LatitudeDegrees>${lat}</LatitudeDegrees>` +
    `<LongitudeDegrees>${lng}</LongitudeDegrees></Position></Trackpoint>`,
).join('')}</Track></Lap></Activity></Activities></TrainingCenterDatabase>`

test.concurrent.each<[string, string, string | Uint8Array]>([
  ['gzip', 'walk.gpx.gz', Bun.gzipSync(new TextEncoder().encode(TEXT))],
  ['a zip archive', 'walk.zip', zipOf({ 'walk.gpx': TEXT })],
  ['blanks before the declaration', 'blanks.gpx', `\n  ${TEXT}`],
  ['KML', 'walk.kml', kml],
  ['TCX', 'walk.tcx', tcx],
  ['a zone of two digits', 'zone.gpx', timed((iso) => iso.replace('Z', '+00'))],
  ['decimal commas', 'commas.gpx', timed((iso) => iso.replace('.', ','))],
  ['a blank in place of the T', 'blank.gpx', timed((iso) => iso.replace('T', ' '))],
])('%s', async (_, name, content) => {
  const { code, out } = await dryRun(name, content)
  expect(out).toContain(KM)
  expect(out).toContain('points      90 (')
  expect(code).toBe(0)
})

test('times without seconds', async () => {
  const minutes = walk(30, { stepS: 60 })
  const text = gpxOf(minutes).replaceAll(':00.000Z', 'Z')
  expect((await dryRun('minutes.gpx', text)).out).toContain('points      30 (')
})

test('wrong times among right ones are left out and counted', async () => {
  const cycleMs = 7_168 * 86_400_000
  const early = (t: number): string => pointAt(new Date(t - cycleMs).toISOString())
  const first = WALK[0]!.t
  const wrong = [
    pointAt('1970-01-01T00:00:00Z'),
    pointAt('0000-01-01T00:00:00Z'),
    ...[60_000, 120_000, 180_000].map((ms) => early(first - ms)),
  ]
  const text = TEXT.replace('<trkseg>', `<trkseg>${wrong.join('')}`).replace(
    '</trkseg>',
    `${pointAt('2099-01-01T00:00:00Z')}</trkseg>`,
  )
  const { code, out } = await dryRun('wrong-times.gpx', text)
  expect(out).toContain('recorded    2026-04-12T00:57:00.000Z to 2026-04-12T01:29:40.000Z')
  expect(out).toContain('points      93 (')
  expect(out).toContain('1 without a time')
  expect(out).toContain('2 with a wrong time')
  expect(out).toContain('3 dated 1,024 weeks early were corrected')
  expect(out).toContain(KM)
  expect(code).toBe(0)
})

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

test('an archive that cannot be read is refused in a sentence of its own', async () => {
  const two = await dryRun('two.zip', zipOf({ 'a.gpx': TEXT, 'b.gpx': TEXT }))
  expect(two).toMatchObject({ code: 1, out: expect.stringContaining('holds 2 recordings: unpack it') })
  const cut = await dryRun('cut.gz', Bun.gzipSync(new TextEncoder().encode(TEXT)).subarray(0, 200))
  expect(cut).toMatchObject({ code: 1, out: expect.stringContaining('cut short, encrypted or damaged') })
})
