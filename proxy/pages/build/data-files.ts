/** Data files that pages load, by name. Each function makes the file's text; null: this event has none. */
import type { Config } from '#shared/runtime/config/config.ts'
import { type Atlas as Shapes, type Box, counties, TAIWAN, towns } from '#shared/runtime/taiwan.ts'
import type { Position } from 'geojson'
import type { Atlas, Lines } from '../map/shapes.ts'

type DataFile = (settings: Pick<Config, 'route' | 'timeZone'>) => string | null

/** Degrees around the route whose towns are shown: about 12 km. */
const AROUND = 0.11
/** Miaoli to Chiayi, where the pilgrimages of the west coast walk: for an event without a route. */
const WEST_COAST: Box = [120.1, 23.4, 120.9, 24.75]

/** The part of Taiwan that the event walks through; null for an event elsewhere. */
function corridor({ route, timeZone }: Parameters<DataFile>[0]): Box | null {
  const places = route?.lines.flat() ?? []
  if (places.length === 0) return timeZone === 'Asia/Taipei' ? WEST_COAST : null
  const [lngs, lats] = [places.map(({ lng }) => lng), places.map(({ lat }) => lat)]
  const [west, east] = [Math.min(...lngs), Math.max(...lngs)]
  const [south, north] = [Math.min(...lats), Math.max(...lats)]
  const inTaiwan = west < TAIWAN[2] && east > TAIWAN[0] && south < TAIWAN[3] && north > TAIWAN[1]
  return inTaiwan ? [west - AROUND, south - AROUND, east + AROUND, north + AROUND] : null
}

export const DATA_FILES: Readonly<Record<string, DataFile>> = {
  counties: (settings) => (corridor(settings) === null ? null : JSON.stringify(countiesFile())),
  towns: (settings) => {
    const box = corridor(settings)
    return box === null ? null : JSON.stringify(townsFile(box))
  },
}

// The atlas of Taiwan as files that the map loads: few bytes, in the form of `Atlas` (map/shapes.ts).

/** Metres that a simplified line may be off. */
const TOLERANCE_M = 100
const CORRIDOR_TOLERANCE_M = 60
/** Units of the files: 1e-4 degrees, about 11 m. */
const UNITS = 1e4

/** Flat lists: longitude and latitude of the first place in 1e-4 degrees, then differences. */
const coded = (lines: readonly (readonly Position[])[]): Lines =>
  lines.map((line) => {
    let [x, y] = [0, 0]
    return line.flatMap(([lng, lat], i) => {
      const [nextX, nextY] = [Math.round(lng! * UNITS), Math.round(lat! * UNITS)]
      const step = [nextX - x, nextY - y]
      ;[x, y] = [nextX, nextY]
      return i > 0 && step[0] === 0 && step[1] === 0 ? [] : step
    })
  })

const inUnits = ([lng, lat]: Position) => [Math.round(lng! * UNITS), Math.round(lat! * UNITS)] as const

const fileOf = ({ land, lines, names }: Shapes): Atlas => ({
  land: coded(land),
  lines: coded(lines),
  names: names.map(({ zh, hans, en, at }) => [zh, hans, en, ...inUnits(at)]),
})

/** Coast and counties. */
const countiesFile = (): Atlas => fileOf(counties(TOLERANCE_M))

/** Towns whose extent meets the box. */
const townsFile = (box: Box): Atlas => fileOf(towns(box, CORRIDOR_TOLERANCE_M))
