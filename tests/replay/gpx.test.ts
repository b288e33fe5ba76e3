import { describe, expect, test } from 'bun:test'
import { parseGpx } from './gpx.ts'
import { gpx, gpxOf, walk } from './recorded-walk.ts'

const point = (at: string, attributes = 'lat="24.1" lon="120.5"') =>
  `<trkpt ${attributes}><time>${at}</time></trkpt>`

const track = (content: string) => gpx(`<trk><trkseg>${content}</trkseg></trk>`)

describe('points', () => {
  test('come out as they went in', () => {
    const points = walk(50)
    const recording = parseGpx(gpxOf(points))
    expect(recording.points).toEqual(points)
    expect(recording.skipped).toEqual({ untimed: 0, misplaced: 0, repeated: 0 })
  })

  test('are gathered from all tracks and segments, ordered by time', () => {
    const { points, tracks, segments } = parseGpx(
      gpx(
        `<trk><trkseg/><trkseg>${point('2026-04-12T03:00:00Z')}</trkseg></trk><trk/>` +
          `<trk><trkseg>${point('2026-04-12T01:00:00Z')}${point('2026-04-12T02:00:00Z')}</trkseg></trk>`,
      ),
    )
    expect(points.map(({ t }) => new Date(t).getUTCHours())).toEqual([1, 2, 3])
    expect({ tracks, segments }).toEqual({ tracks: 3, segments: 3 })
  })

  test('keep no altitude where the file has none, or none that is a number', () => {
    const { points } = parseGpx(
      track(
        `<trkpt lat="1" lon="2"><time>2026-04-12T01:00:00Z</time></trkpt>` +
          `<trkpt lat="1" lon="2"><ele>high</ele><time>2026-04-12T01:00:01Z</time></trkpt>` +
          `<trkpt lat="1" lon="2"><ele> -3.5 </ele><time>2026-04-12T01:00:02Z</time></trkpt>`,
      ),
    )
    expect(points.map(({ altitude }) => altitude)).toEqual([null, null, -3.5])
  })

  test('are skipped and counted without a time, without a place, and at an instant already taken', () => {
    const { points, skipped } = parseGpx(
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
        ].join(''),
      ),
    )
    expect(points.map(({ lat }) => lat)).toEqual([24.1])
    expect(skipped).toEqual({ untimed: 2, misplaced: 4, repeated: 1 })
  })
})

test.each([
  ['2026-04-12T01:00:00Z', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T01:00:00.1239Z', '2026-04-12T01:00:00.123Z'],
  ['2026-04-12T09:00:00+08:00', '2026-04-12T01:00:00.000Z'],
  ['2026-04-12T09:00:00+0800', '2026-04-12T01:00:00.000Z'],
  [' 2026-04-12T01:00:00 ', '2026-04-12T01:00:00.000Z'],
])('the time %p is %p', (written, read) => {
  expect(new Date(parseGpx(track(point(written))).points[0]!.t).toISOString()).toBe(read)
})

describe('documents', () => {
  test('GPX 1.0, a prefixed namespace, a byte order mark and extensions are read', () => {
    const body = `<g:trk><g:trkseg><g:trkpt lat="1" lon="2"><g:time>2026-04-12T01:00:00Z</g:time>
      <g:extensions><x:TrackPointExtension><x:time>1999-01-01T00:00:00Z</x:time></x:TrackPointExtension>
      </g:extensions></g:trkpt></g:trkseg></g:trk>`
    const text = `\uFEFF<?xml version="1.0"?><g:gpx version="1.0" xmlns:g="http://www.topografix.com/GPX/1/0"
      xmlns:x="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">${body}</g:gpx>`
    expect(parseGpx(text).points).toEqual([
      { lat: 1, lng: 2, t: Date.parse('2026-04-12T01:00:00Z'), altitude: null },
    ])
  })

  test('a file of one line gives the same as one of many', () => {
    const text = gpxOf(walk(20))
    expect(parseGpx(text.replaceAll('\n', ''))).toEqual(parseGpx(text))
  })

  test('waypoints and routes are no recording', () => {
    const waypoint = '<wpt lat="1" lon="2"><time>2026-04-12T01:00:00Z</time></wpt>'
    expect(() => parseGpx(gpx(`${waypoint}<rte><rtept lat="1" lon="2"/></rte>`))).toThrow(/no track points/)
  })

  test.each([
    ['cut short', gpxOf(walk(20)).slice(0, 900), /not well-formed XML, perhaps cut short \(line \d+/],
    ['with a wrong end tag', track('<trkpt lat="1" lon="2"></trk>'), /not well-formed XML/],
    ['empty', '', /not well-formed XML/],
    ['of another kind', '<kml><Document/></kml>', /root element is <kml>/],
    [
      'without times',
      track('<trkpt lat="1" lon="2"/>'),
      /None of the 1 track points has both a time and a place/,
    ],
  ])('a file %s is refused in a sentence', (_, text, sentence) => {
    expect(() => parseGpx(text)).toThrow(sentence)
  })
})
