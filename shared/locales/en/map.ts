import { count } from './count.ts'
export { words as page } from './all-pages.ts'

export const words = {
  standing: {
    active: 'Under way',
    paused: 'Paused',
    ended: 'Ended',
    awaited: 'Not started',
    unknown: 'Loading',
  },
  /** Shown when the organisers have set no message. */
  sentence: {
    ended: 'Thank you to everyone who walked with us. Until next time.',
    awaited: 'You are welcome to walk with us.',
  },
  begins: (at: string) => `Begins on ${at}`,
  survey: 'Survey',
  map: (followed: string) => `Map of the ${followed}`,
  scan: 'Follow on your phone',
  showProcession: (followed: string) => `Show the ${followed}`,
  showRoute: 'Show the whole route',
  detailed: 'Detailed map',
  detailedUnsupported: 'This browser cannot draw the detailed map.',
  detailedAway: 'The detailed map cannot be loaded at the moment.',
  procession: (followed: string) => `Where the ${followed} is`,
  /** Beside the leader, when it has reported nothing for some minutes. */
  lastSeen: (time: string) => `last seen ${time}`,
  leaderSilent: (leader: string, time: string) =>
    `${leader} last seen at ${time}. Times and distances go by the crowd.`,
  part: { front: 'Front', middle: 'Middle', tail: 'Tail' },
  near: (station: string) => `near ${station}`,
  between: (from: string, to: string) => `between ${from} and ${to}`,
  length: (km: string) => `${km} long`,
  scattered: (km: string) => `${km} from first to last`,
  speed: (kmh: string) => `${kmh} km/h`,
  resting: 'resting',
  positionsOld: (hours: number) => `some positions ${hours} h old`,
  nobody: 'Nobody is on the map yet.',
  /** The totals of the event, after its end. */
  achieved: (pilgrims: number, km: string, kg: string) =>
    `${count(pilgrims, 'pilgrim', 'pilgrims')}, ${km} km, ${kg} kg of CO₂ saved`,
  onMap: (pilgrims: number) => `${count(pilgrims, 'pilgrim is', 'pilgrims are')} on the map`,
  /** What the map can show; with `fewest` 1 a single person. */
  crowdNote: (fewest: number) =>
    fewest > 1
      ? `Only places with ${count(fewest, 'person', 'people')} or more; nobody’s own position.`
      : 'The map can show a single person, to within 10 m.',
  me: 'Me',
  whereAmI: 'Where am I',
  meToProcession: (km: string) => `The middle of the crowd is ${km} from you, in a straight line.`,
  meDenied: 'Your position is not allowed. You can allow it in the browser’s settings.',
  meUnknown: 'Your position was not found. Outdoors it is easier; try again.',
  mePrivate: 'Your position stays on this device.',
  nextStation: 'Next station',
  /** Times of an arrival, from the most to the least exact. */
  planned: (time: string) => `planned ${time}`,
  about: (time: string) => `about ${time}`,
  hours: (from: number, to: number) => `${from}:00–${to}:00`,
  days: ['today', 'tomorrow'] as readonly string[],
  parts: ['0–5 h', '5–12 h', '12–18 h', '18–24 h'] as readonly string[],
  partOfDay: (day: string, part: string) => `${day} ${part}`,
  distance: 'To go',
  stations: 'Stations on the way',
  myStation: 'My station',
  chooseStation: 'Choose where you wait',
  middleAt: (time: string) => `middle ${time}`,
  toGo: (km: string) => `${km} to go`,
  passed: 'Passed',
  passedStations: (stations: number) => `${count(stations, 'station', 'stations')} passed`,
  passing: 'Passing now',
  /** If a few people are far apart. */
  somePassed: 'Some have passed',
  tailPassed: 'All have passed',
  tellMe: 'Tell me when it is near',
  toldHere: 'Keep this page open: it tells you when they are near.',
  toldDenied: 'The browser does not allow notifications. The page itself will show it.',
  soon: (followed: string, station: string, minutes: number) =>
    `The ${followed} reaches ${station} in about ${count(minutes, 'minute', 'minutes')}`,
  arrived: (station: string) => `The front has reached ${station}`,
  loading: 'Loading the latest news…',
  old: (time: string, ago: string) => `As of ${time} (${ago}).`,
  tooOld: 'No news for too long: the crowd is not shown.',
  ago: {
    minutes: (minutes: number) => `${count(minutes, 'minute', 'minutes')} ago`,
    hours: (hours: number) => `${count(hours, 'hour', 'hours')} ago`,
    days: (days: number) => `${count(days, 'day', 'days')} ago`,
  },
  crowdStale: 'The crowd cannot be updated at the moment.',
}
