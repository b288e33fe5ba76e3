/** Data files that pages load, by name. Each function makes the file's text; null: this event has none. */
import type { Config } from '#shared/config/config.ts'
import { type Box, TAIWAN } from '#shared/atlas/taiwan.ts'
import { countiesFile, townsFile } from './atlas.ts'

export type DataFile = (settings: Pick<Config, 'route' | 'timeZone'>) => string | null

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
