/** The procession in one hour: its position, and the cells of its points. */
import { figure } from '#shared/locales/units.ts'
import type { Answer, MapCellEntry } from '#shared/client/index.ts'
import { date, localTime, minute } from '../../clock.ts'
import { entriesOf } from '../../map/cells.ts'
import { route } from '../../map/ground.ts'
import {
  PROCESSION,
  type PlaceOnRoute,
  type ProcessionPlaces,
  placeName,
  placeOf,
} from '../../map/place-words.tsx'
import { fileName, saveCsv } from '../../parts/download.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'

const E5 = 1e5
const HOUR_MS = 3_600_000
/** Width of a cell of zoom 6 on the equator: 0.2°. */
const CELL_6_M = 22_240
/** Cells of about 700 m: the whole way of a pilgrimage fits into one response. */
const ZOOM = 11

export interface Hour extends ProcessionPlaces {
  readonly cells: readonly MapCellEntry[]
}

const endOf = (hour: string): string => new Date(Date.parse(hour) + HOUR_MS).toISOString()

export async function readHour(hour: string, signal: AbortSignal): Promise<Answer<Hour>> {
  const answer = await client.readClusters({ zoom: ZOOM, since: hour, until: endOf(hour) }, { signal })
  if (!answer.ok) return answer
  const { front, middle, tail } = answer.data
  return { ...answer, data: { cells: entriesOf(answer.data, 'count'), front, middle, tail } }
}

/** `12 Apr, 14:00–15:00` */
export const hourName = (hour: string): string => `${date(hour)}–${minute(endOf(hour))}`

/**
 * Front, middle and tail of one hour, and the areas in which points were recorded, in words for readers
 * outside: in the event's local time, with the kilometre of the route. An area with few points can show where
 * one person was, so the file says that it is for operators only.
 */
export function saveHour(hour: string, { cells, ...places }: Hour): void {
  const messages = words.peek().reports
  const marks = words.peek().now
  const times = [localTime(hour), localTime(endOf(hour))]
  const row = (what: string, place: PlaceOnRoute, points: number | null) => [
    ...times,
    what,
    placeName(place, route.peek()),
    // Rounded down, as on the page.
    place.route_km === null || place.unsure ? null : Math.floor(place.route_km * 10 + 1e-6) / 10,
    place.lat,
    place.lng,
    points,
    hour,
  ]
  saveCsv(
    [
      Object.values(messages.processionColumns),
      ...PROCESSION.flatMap((name) => (places[name] === null ? [] : [row(marks[name], places[name], null)])),
      ...cells.map(([latE5, lngE5, zoom, points]) => {
        const name = `${messages.area} ${figure(cellMetres(zoom))}`
        return row(name, placeOf(latE5 / E5, lngE5 / E5), points)
      }),
      [...times, messages.note, messages.forOperators],
    ],
    fileName('procession', localTime(hour), 'csv'),
  )
}

const cellMetres = (zoom: number): number => {
  const lat = route.peek()?.stations[0]?.lat ?? 0
  return Math.round((CELL_6_M * Math.cos((lat * Math.PI) / 180)) / 2 ** (zoom - 6) / 100) * 100
}
