/** The procession in one hour: where it was, and the cells of its points. */
import type { Answer, MapCellEntry } from '#shared/client/index.ts'
import { date, longDay, minute } from '../../clock.ts'
import { entriesOf } from '../../map/cells.ts'
import { route } from '../../map/ground.ts'
import { placeName } from '../../map/place-words.ts'
import { PROCESSION, type ProcessionPlaces } from '../../map/procession-places.tsx'
import { saveCsv } from '../../parts/download.ts'
import { client } from '../../session.ts'

const E5 = 1e5
const HOUR_MS = 3_600_000
/** Cells of about 700 m: the whole way of a pilgrimage fits into one answer. */
const ZOOM = 11

/** What is known of an hour. */
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

/** `Sunday, 12 April 2026, 14:00–15:00` */
export const longHourName = (hour: string): string =>
  `${longDay(hour)}, ${minute(hour)}–${minute(endOf(hour))}`

/** Front, middle and tail of one hour, and its cells: the middle of each in degrees, and its points. */
export const saveHour = (hour: string, { cells, ...places }: Hour): void =>
  saveCsv(
    [
      ['hour', 'what', 'place', 'route_km', 'lat', 'lng', 'zoom', 'points'],
      ...PROCESSION.flatMap((name) => {
        const place = places[name]
        return place === null
          ? []
          : [[hour, name, placeName(place, route.value), place.route_km, place.lat, place.lng]]
      }),
      ...cells.map(([lat, lng, zoom, points]) => [hour, 'cell', '', '', lat / E5, lng / E5, zoom, points]),
    ],
    'procession.csv',
  )
