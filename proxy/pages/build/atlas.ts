/** The atlas of Taiwan as files that the map loads: few bytes, in the form of map/atlas.ts. */
import type { Position } from 'geojson'
import { type Atlas as Shapes, ATLAS_SOURCE, type Box, counties, towns } from '#shared/atlas/taiwan.ts'
import type { Atlas, Lines } from '../map/atlas.ts'

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
  source: ATLAS_SOURCE,
  land: coded(land),
  lines: coded(lines),
  names: names.map(({ zh, hans, en, at }) => [zh, hans, en, ...inUnits(at)]),
})

/** Coast and counties. */
export const countiesFile = (): Atlas => fileOf(counties(TOLERANCE_M))

/** Towns whose extent meets the box. */
export const townsFile = (box: Box): Atlas => fileOf(towns(box, CORRIDOR_TOLERANCE_M))
