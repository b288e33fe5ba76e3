/** The three formats in which recorders write tracks, each as a handler of XML elements that collects points. */
import type { XmlHandler } from './scan-xml.ts'

/** A point as it is written. */
export interface WrittenPoint {
  lat?: string | undefined
  lng?: string | undefined
  time?: string | undefined
  /** Metres. */
  altitude?: string | undefined
  /** Metres. */
  accuracy?: string | undefined
  /** Horizontal dilution of precision. */
  hdop?: string | undefined
}

export interface Collected {
  readonly points: WrittenPoint[]
  tracks: number
  segments: number
  /** `hdop` is the accuracy in metres and not a dilution. */
  hdopIsMetres: boolean
}

export type TrackFormat = 'gpx' | 'kml' | 'tcx'

/** Formats by the name of their root element. */
export const FORMATS: Readonly<
  Record<string, { format: TrackFormat; read: (into: Collected) => XmlHandler }>
> = {
  gpx: { format: 'gpx', read: readGpx },
  kml: { format: 'kml', read: readKml },
  TrainingCenterDatabase: { format: 'tcx', read: readTcx },
}

/** Names of the horizontal accuracy in metres in extensions, of Apple Health, OpenTracks, GraphHopper and others. */
const ACCURACY = /^(h_?acc(uracy)?|accuracy|accuracy_?horizontal|horizontal_?accuracy|horaccur)$/i

/** Recorders that write the accuracy of Android's positions as `hdop`. */
const HDOP_IN_METRES = /^(osmand|locus)/i

/** GPX 1.0 and 1.1: points of tracks. Waypoints and routes are plans. */
function readGpx(into: Collected): XmlHandler {
  let point: WrittenPoint | null = null
  return {
    open(path, attribute) {
      const name = path.at(-1)
      if (path.length === 1) into.hdopIsMetres = HDOP_IN_METRES.test(attribute('creator') ?? '')
      else if (name === 'trk') into.tracks++
      else if (name === 'trkseg') into.segments++
      else if (name === 'trkpt') point = { lat: attribute('lat'), lng: attribute('lon') }
    },
    close(path, text) {
      if (point === null) return
      const name = path.at(-1)!
      if (name === 'trkpt') {
        into.points.push(point)
        point = null
      } else if (path.at(-2) === 'trkpt') {
        if (name === 'time') point.time = text
        else if (name === 'ele') point.altitude = text
        else if (name === 'hdop') point.hdop = text
      }
      if (point !== null && ACCURACY.test(name)) point.accuracy = text
    },
  }
}

/** KML 2.2: `gx:Track`, which lists times and places separately, and placemarks with one time stamp and one point. */
function readKml(into: Collected): XmlHandler {
  let track: { times: string[]; places: string[]; accuracies: string[] } | null = null
  let placemark: { time?: string; place?: string } = {}
  let list = ''
  return {
    open(path, attribute) {
      const name = path.at(-1)
      if (name === 'Track') {
        into.tracks++
        into.segments++
        track = { times: [], places: [], accuracies: [] }
      } else if (name === 'Placemark') placemark = {}
      else if (name === 'SimpleArrayData') list = attribute('name') ?? ''
    },
    close(path, text) {
      const name = path.at(-1)!
      const parent = path.at(-2)
      if (name === 'Track') {
        const { times = [], places = [], accuracies = [] } = track ?? {}
        for (const [i, place] of places.entries())
          into.points.push({ ...written(place), time: times[i], accuracy: accuracies[i] })
        for (const time of times.slice(places.length)) into.points.push({ time })
        track = null
      } else if (track !== null) {
        if (name === 'when' && parent === 'Track') track.times.push(text)
        else if (name === 'coord') track.places.push(text)
        else if (name === 'value' && ACCURACY.test(list)) track.accuracies.push(text)
      } else if (name === 'when' && parent === 'TimeStamp') placemark.time = text
      else if (name === 'coordinates' && parent === 'Point') placemark.place = text
      else if (name === 'Placemark') {
        const { time, place } = placemark
        if (time !== undefined && place !== undefined) into.points.push({ ...written(place), time })
      }
    },
  }
}

/** Longitude, latitude and altitude, with blanks or commas between them. */
function written(place: string): WrittenPoint {
  const [lng, lat, altitude] = place.trim().split(/[\s,]+/)
  return { lat, lng, altitude }
}

/** TCX 2: points of activities. Courses are plans. */
function readTcx(into: Collected): XmlHandler {
  let point: WrittenPoint | null = null
  return {
    open(path) {
      const name = path.at(-1)
      if (path[1] === 'Courses') return
      if (name === 'Activity') into.tracks++
      else if (name === 'Track') into.segments++
      else if (name === 'Trackpoint') point = {}
    },
    close(path, text) {
      if (point === null) return
      const name = path.at(-1)
      if (name === 'Trackpoint') {
        into.points.push(point)
        point = null
      } else if (name === 'Time') point.time = text
      else if (name === 'LatitudeDegrees') point.lat = text
      else if (name === 'LongitudeDegrees') point.lng = text
      else if (name === 'AltitudeMeters') point.altitude = text
    },
  }
}
