/** Recorded files: every format that real apps write, and every kind of useless file. */
import { describe, expect, test } from 'bun:test'
import {
  type Period,
  type RecordedFile,
  type RecordedFileFault,
  readRecordedFile,
} from '#shared/core/recorded-file/read-recorded-file.ts'
import { gpx, gpxOf, walk } from '#tests/tools/replay/recorded-walk.ts'
import { zipOf } from './zip-of.ts'

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const DAY_MS = 86_400_000

async function read(file: string | Uint8Array, period?: Period): Promise<RecordedFile> {
  const recording = await readRecordedFile(typeof file === 'string' ? bytesOf(file) : file, period)
  if (!recording.ok) throw new Error(JSON.stringify(recording))
  return recording
}

async function faultOf(file: string | Uint8Array, period?: Period): Promise<RecordedFileFault> {
  const recording = await readRecordedFile(typeof file === 'string' ? bytesOf(file) : file, period)
  if (recording.ok) throw new Error(`${recording.points.length} points were read`)
  return recording
}

const point = (at: string, attributes = 'lat="24.1" lon="120.5"', more = ''): string =>
  `<trkpt ${attributes}><time>${at}</time>${more}</trkpt>`

const track = (content: string, root = ''): string =>
  gpx(`<trk><trkseg>${content}</trkseg></trk>`).replace('creator="test"', `creator="test" ${root}`)

const timesOf = ({ points }: RecordedFile): string[] => points.map(({ t }) => new Date(t).toISOString())
const NONE = { untimed: 0, misplaced: 0, repeated: 0, early: 0, late: 0 }

describe('the points of a GPX file', () => {
  test('come out as they went in', async () => {
    const points = walk(50)
    expect(await read(gpxOf(points))).toEqual({
      ok: true,
      format: 'gpx',
      points,
      tracks: 1,
      segments: 1,
      leftOut: NONE,
      redated: 0,
    })
  })

  test('are gathered from all tracks and segments, ordered by time', async () => {
    const recording = await read(
      gpx(
        `<trk><trkseg/><trkseg>${point('2026-04-12T03:00:00Z')}</trkseg></trk><trk/>` +
          `<trk><trkseg>${point('2026-04-12T01:00:00Z')}${point('2026-04-12T02:00:00Z')}</trkseg></trk>`,
      ),
    )
    expect(recording.points.map(({ t }) => new Date(t).getUTCHours())).toEqual([1, 2, 3])
    expect(recording).toMatchObject({ tracks: 3, segments: 3 })
  })

  test('have no altitude where the file has none, or none that is a number', async () => {
    const { points } = await read(
      track(
        `<trkpt lat="1" lon="2"><time>2026-04-12T01:00:00Z</time></trkpt>` +
          `<trkpt lat="1" lon="2"><ele>high</ele><time>2026-04-12T01:00:01Z</time></trkpt>` +
          `<trkpt lat="1" lon="2"><ele> -3.5 </ele><time>2026-04-12T01:00:02Z</time></trkpt>`,
      ),
    )
    expect(points.map(({ altitude }) => altitude)).toEqual([null, null, -3.5])
  })

  test('are left out and counted without a time, without a place, and at an instant already taken', async () => {
    const { points, leftOut } = await read(
      track(
        [
          point('2026-04-12T01:00:00Z', 'lat="24.1" lon="120.5"'),
          point('2026-04-12T09:00:00+08:00', 'lat="24.9" lon="120.9"'),
          '<trkpt lat="24.1" lon="120.5"/>',
          point('yesterday'),
          point('2026-04-12T01:00:03Z', 'lat="90.1" lon="120.5"'),
          point('2026-04-12T01:00:04Z', 'lat="" lon="120.5"'),
          point('2026-04-12T01:00:05Z', 'lat="24,1" lon="120,5"'),
          point('2026-04-12T01:00:06Z', 'lat="24.1"'),
          point('2026-04-12T01:00:07Z', 'lat="0.0" lon="-0"'),
          point('2026-04-12T01:00:08Z', 'lat="0x18" lon="120.5"'),
        ].join(''),
      ),
    )
    // A recorder that follows the phone's locale writes a comma.
    expect(points.map(({ lat }) => lat)).toEqual([24.1, 24.1])
    expect(leftOut).toEqual({ untimed: 2, misplaced: 5, repeated: 1, early: 0, late: 0 })
  })
})

test.each([
  ['2026-04-12T01:00:00Z', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T01:00:00.1239Z', '2026-04-12T01:00:00.123Z'],
  ['2026-04-12T01:00:00,5Z', '2026-04-12T01:00:00.500Z'],
  ['2026-04-12T09:00:00+08:00', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T09:00:00+0800', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T01:00:00+00', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12 01:00:00Z', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12 09:00:00 +08:00', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12 01:00:00 UTC', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T01:00Z', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12 01:00', '2026-04-12T01:00:00.000Z'],
  [' 2026-04-12T01:00:00 ', '2026-04-12T01:00:00.000Z'],
])('the time %p is %p', async (written, time) => {
  expect(timesOf(await read(track(point(written))))).toEqual([time])
})

describe('the accuracy', () => {
  const accuracyOf = async (more: string, root = ''): Promise<number | null> =>
    (await read(track(point('2026-04-12T01:00:00Z', undefined, more), root))).points[0]!.accuracy

  test.each([
    ['Apple Health', '<extensions><speed>1.2</speed><hAcc>1414.2</hAcc><vAcc>3</vAcc></extensions>', 1414.2],
    [
      'OpenTracks',
      '<extensions><g:TrackPointExtension><o:accuracy_horizontal>4</o:accuracy_horizontal></g:TrackPointExtension></extensions>',
      4,
    ],
    ['a recorder with its own extension', '<extensions><accuracy>12</accuracy></extensions>', 12],
    ['a receiver that knows its dilution', '<hdop>2.5</hdop>', 12.5],
    ['a recorder that writes both', '<hdop>2.5</hdop><extensions><hAcc>7</hAcc></extensions>', 7],
    ['a position without a known accuracy', '<extensions><hAcc>-1</hAcc></extensions>', null],
    ['a recorder that does not know it', '<hdop>0</hdop>', null],
  ])('of %s', async (_, more, metres) => {
    expect(await accuracyOf(more)).toBe(metres)
  })

  test('of a recorder that writes metres as its dilution', async () => {
    const text = track(point('2026-04-12T01:00:00Z', undefined, '<hdop>20</hdop>'))
    const { points } = await read(text.replace('creator="test"', 'creator="OsmAnd~ 5.2.1"'))
    expect(points[0]!.accuracy).toBe(20)
  })
})

describe('wrong times', () => {
  const good = walk(20)
  const CYCLE_MS = 7_168 * DAY_MS
  const at = (t: number): string => point(new Date(t).toISOString(), 'lat="24.2" lon="120.5"')

  test('among right ones are left out and counted, and those of an old cycle of weeks are corrected', async () => {
    const wrong = [
      point('0000-04-12T01:00:00Z'),
      point('1970-01-01T00:00:12Z'),
      point('2099-12-31T23:59:59Z'),
      at(good[0]!.t - 1_000 - CYCLE_MS),
      at(good[0]!.t - 2_000 - CYCLE_MS),
      at(good.at(-1)!.t + 3_000 - CYCLE_MS),
    ].join('')
    const recording = await read(gpxOf(good).replace('<trkseg>', `<trkseg>${wrong}`))
    expect(recording.leftOut).toEqual({ ...NONE, untimed: 1, early: 1, late: 1 })
    expect(recording.redated).toBe(3)
    expect(recording.points).toHaveLength(23)
    expect(recording.points[2]).toEqual(good[0])
    expect(recording.points.at(-1)!.t).toBe(good.at(-1)!.t + 3_000)
  })

  test('of most points are corrected by the few that are right', async () => {
    const early = Array.from({ length: 30 }, (_, i) => at(good[0]!.t - (i + 1) * 20_000 - CYCLE_MS)).join('')
    const { points, redated } = await read(gpxOf(good).replace('<trkseg>', `<trkseg>${early}`))
    expect({ points: points.length, redated, first: points[0]!.t }).toEqual({
      points: 50,
      redated: 30,
      first: good[0]!.t - 600_000,
    })
  })

  test('are those outside of a period, where there is one', async () => {
    const period = { from: good[5]!.t, to: good[14]!.t }
    const recording = await read(gpxOf(good), period)
    expect(recording).toMatchObject({ points: good.slice(5, 15), leftOut: { ...NONE, early: 5, late: 5 } })
    const rolledOver = gpxOf(good.map((one) => ({ ...one, t: one.t - CYCLE_MS })))
    expect(await read(rolledOver, period)).toMatchObject({ points: good.slice(5, 15), redated: 10 })
    expect(await faultOf(gpxOf(good), { from: 0, to: 1 })).toEqual({
      ok: false,
      code: 'outside-period',
      first: good[0]!.t,
      last: good.at(-1)!.t,
    })
  })

  test('a recording of many days stays whole, and one of an old cycle keeps its times where nothing speaks against them', async () => {
    const days = Array.from({ length: 40 }, (_, i) => ({ ...good[0]!, t: good[0]!.t + i * DAY_MS }))
    expect((await read(gpxOf(days))).points).toHaveLength(40)
    const old = days.map((one) => ({ ...one, t: one.t - CYCLE_MS }))
    expect(await read(gpxOf(old))).toMatchObject({ points: old, redated: 0 })
  })
})

describe('documents', () => {
  test('GPX 1.0, a prefixed namespace, a byte order mark and extensions are read', async () => {
    const body = `<g:trk><g:trkseg><g:trkpt lat='1' lon = "2"><g:time>2026-04-12T01:00:00Z</g:time>
      <g:extensions><x:TrackPointExtension><x:time>1999-01-01T00:00:00Z</x:time></x:TrackPointExtension>
      </g:extensions></g:trkpt></g:trkseg></g:trk>`
    const text = `\uFEFF<?xml version="1.0"?><g:gpx version="1.0" xmlns:g="http://www.topografix.com/GPX/1/0"
      xmlns:x="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">${body}</g:gpx>`
    expect((await read(text)).points).toEqual([
      { lat: 1, lng: 2, t: Date.parse('2026-04-12T01:00:00Z'), altitude: null, accuracy: null },
    ])
  })

  test('a file of one line gives the same as one of many', async () => {
    const text = gpxOf(walk(20))
    expect(await read(text.replaceAll('\n', ''))).toEqual(await read(text))
  })

  const text = gpxOf(walk(20))
  const utf16 = (swap: boolean, mark: string): Uint8Array => {
    const bytes = Buffer.from(mark + text, 'utf16le')
    return swap ? bytes.swap16() : bytes
  }
  test.each<[string, string | Uint8Array]>([
    ['blanks and new lines before the declaration', ` \r\n\n\t${text}`],
    ['new lines and zero bytes at the end', `${text}\r\n\0\0\0`],
    ['UTF-16 with a byte order mark', utf16(false, '\uFEFF')],
    ['UTF-16 in the other order', utf16(true, '\uFEFF')],
    ['UTF-16 without a mark', utf16(false, '')],
    ['UTF-16 that is declared and UTF-8 that is written', text.replace('UTF-8', 'utf-16')],
    [
      'Latin-1',
      Buffer.from(
        text.replace('UTF-8', 'ISO-8859-1').replace('<trk>', '<trk><name>Žižkov café</name>'),
        'latin1',
      ),
    ],
    ['an unknown encoding', text.replace('UTF-8', 'x-none')],
    [
      'a comment, an instruction, CDATA and a document type',
      text
        .replace('<gpx', '<!DOCTYPE gpx [<!ENTITY a "b">]><?go?><!-- <trkpt> --><gpx')
        .replace('<trk>', '<trk><name><![CDATA[<trkpt> & ]]></name>'),
    ],
    ['gzip', Bun.gzipSync(bytesOf(text))],
    ['a zip archive', zipOf({ 'walk.gpx': text })],
    ['a zip archive without compression', zipOf({ 'walk.gpx': text }, { stored: true })],
    [
      'a zip archive with other files and a comment',
      zipOf(
        { 'a/READ.ME': 'x', 'a/WALK.GPX': text, '__MACOSX/a/._WALK.GPX': 'y' },
        { comment: 'by a recorder' },
      ),
    ],
    ['gzip in a zip archive', zipOf({ 'walk.gpx.gz': Bun.gzipSync(bytesOf(text)) })],
  ])('%s is read', async (_, file) => {
    expect((await read(file)).points).toEqual(walk(20))
  })

  test.each<[string, string | Uint8Array, object]>([
    ['cut short', text.slice(0, 900), { code: 'not-xml', line: 9, reason: '<time> does not end' }],
    [
      'cut between two tags',
      text.slice(0, text.indexOf('</trkseg>')),
      { code: 'not-xml', reason: '<trkseg> does not end' },
    ],
    [
      'with a wrong end tag',
      track('<trkpt lat="1" lon="2"></trk>'),
      { code: 'not-xml', reason: '</trk> does not end <trkpt>' },
    ],
    ['of two documents', text + text, { code: 'not-xml' }],
    ['with half a tag', gpx('<trk'), { code: 'not-xml', line: 2, reason: 'no tag after <' }],
    ['of text', 'lat,lng\n1,2', { code: 'unknown-format', root: null }],
    ['of nothing', '', { code: 'empty' }],
    ['of blanks', ' \n', { code: 'empty' }],
    ['of another kind', '<!DOCTYPE html><html><br></html>', { code: 'unknown-format', root: 'html' }],
    [
      'of a plan',
      gpx('<wpt lat="1" lon="2"><time>2026-04-12T01:00:00Z</time></wpt><rte><rtept lat="1" lon="2"/></rte>'),
      { code: 'no-track' },
    ],
    ['without times', track('<trkpt lat="1" lon="2"/>'), { code: 'no-times', count: 1 }],
    ['of gzip cut short', Bun.gzipSync(bytesOf(text)).subarray(0, 300), { code: 'damaged-archive' }],
    ['of a zip archive cut short', zipOf({ 'walk.gpx': text }).subarray(0, 300), { code: 'damaged-archive' }],
    ['of an archive without a recording', zipOf({ 'a.txt': text }), { code: 'nothing-inside' }],
    ['of an empty archive', zipOf({}), { code: 'nothing-inside' }],
    ['of an archive of two', zipOf({ 'a.gpx': text, 'b.gpx': text }), { code: 'several-inside', count: 2 }],
    ['of an encrypted archive', zipOf({ 'a.gpx': text }, { encrypted: true }), { code: 'damaged-archive' }],
    ['that unpacks to too much', Bun.gzipSync(new Uint8Array(129 * 1024 * 1024)), { code: 'too-large' }],
  ])('a file %s is refused', async (_, file, fault) => {
    expect(await faultOf(file)).toMatchObject(fault)
  })

  test('nothing but a walk or a fault comes of a damaged file', async () => {
    const packed = zipOf({ 'walk.gpx': text })
    let seed = 7
    const random = (max: number): number => (seed = (seed * 48_271) % 2_147_483_647) % max
    for (const whole of [bytesOf(text), packed, Bun.gzipSync(bytesOf(text))])
      for (let i = 0; i < 200; i++) {
        const damaged = whole.slice(0, random(3) === 0 ? random(whole.length) : whole.length)
        for (let n = random(4); n >= 0 && damaged.length > 0; n--)
          damaged[random(damaged.length)] = random(256)
        const recording = await readRecordedFile(damaged)
        if (recording.ok) expect(recording.points.length).toBeGreaterThan(0)
        else expect(recording.code).toBeString()
      }
  })
})

describe('KML', () => {
  const kml = (content: string): string =>
    `<?xml version="1.0"?><kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>${content}</Document></kml>`
  const when = (minute: number): string => `<when>2026-04-12T01:0${minute}:00Z</when>`
  const at = Date.parse('2026-04-12T01:00:00Z')

  test('a track is read, with its times in one list or among the places, and with its accuracies', async () => {
    const text = kml(
      `<Placemark><gx:MultiTrack>
        <gx:Track>${when(0)}${when(1)}<gx:coord>120.5 24.1 12.5</gx:coord><gx:coord>120.6 24.2</gx:coord>
          <ExtendedData><SchemaData><gx:SimpleArrayData name="speed"><gx:value>9</gx:value><gx:value>9</gx:value></gx:SimpleArrayData>
          <gx:SimpleArrayData name="accuracy_horizontal"><gx:value>4</gx:value><gx:value>800</gx:value></gx:SimpleArrayData>
          </SchemaData></ExtendedData></gx:Track>
        <gx:Track>${when(2)}<gx:coord>120.7 24.3 0</gx:coord>${when(3)}<gx:coord/>${when(4)}</gx:Track>
      </gx:MultiTrack></Placemark>`,
    )
    expect(await read(text)).toEqual({
      ok: true,
      format: 'kml',
      points: [
        { lat: 24.1, lng: 120.5, t: at, altitude: 12.5, accuracy: 4 },
        { lat: 24.2, lng: 120.6, t: at + 60_000, altitude: null, accuracy: 800 },
        { lat: 24.3, lng: 120.7, t: at + 120_000, altitude: 0, accuracy: null },
      ],
      tracks: 2,
      segments: 2,
      leftOut: { ...NONE, misplaced: 2 },
      redated: 0,
    })
  })

  test('placemarks with a time are read, and alone in a KMZ archive', async () => {
    const text = kml(
      `<Placemark><name>temple</name><Point><coordinates>1,2</coordinates></Point></Placemark>
       <Placemark><TimeStamp>${when(5)}</TimeStamp><Point><coordinates> 120.5,24.1,7 </coordinates></Point></Placemark>`,
    )
    const points = [{ lat: 24.1, lng: 120.5, t: at + 300_000, altitude: 7, accuracy: null }]
    expect((await read(text)).points).toEqual(points)
    expect((await read(zipOf({ 'doc.kml': text, 'files/icon.png': 'x' }))).points).toEqual(points)
  })

  test('a drawn line is no track', async () => {
    const line = '<Placemark><LineString><coordinates>1,2 3,4</coordinates></LineString></Placemark>'
    expect(await faultOf(kml(line))).toEqual({ ok: false, code: 'no-track' })
  })
})

describe('TCX', () => {
  const tcx = (content: string): string =>
    `<?xml version="1.0"?><TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2">${content}</TrainingCenterDatabase>`
  const laps = `<Lap StartTime="2026-04-12T01:00:00Z"><TotalTimeSeconds>60</TotalTimeSeconds><Track>
      <Trackpoint><Time>2026-04-12T01:00:00.000Z</Time><Position><LatitudeDegrees>24.1</LatitudeDegrees>
      <LongitudeDegrees>120.5</LongitudeDegrees></Position><AltitudeMeters>12.25</AltitudeMeters></Trackpoint>
      <Trackpoint><Time>2026-04-12T01:00:30.000Z</Time><HeartRateBpm><Value>90</Value></HeartRateBpm></Trackpoint>
    </Track></Lap>`

  test('the points of an activity are read', async () => {
    expect(await read(tcx(`<Activities><Activity Sport="Walking">${laps}</Activity></Activities>`))).toEqual({
      ok: true,
      format: 'tcx',
      points: [
        { lat: 24.1, lng: 120.5, t: Date.parse('2026-04-12T01:00:00Z'), altitude: 12.25, accuracy: null },
      ],
      tracks: 1,
      segments: 1,
      leftOut: { ...NONE, misplaced: 1 },
      redated: 0,
    })
  })

  test('a course is a plan', async () => {
    expect(await faultOf(tcx(`<Courses><Course>${laps}</Course></Courses>`))).toEqual({
      ok: false,
      code: 'no-track',
    })
  })
})
