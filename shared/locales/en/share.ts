import { count } from './count.ts'

export const share = {
  /** The language's own name. */
  language: 'English',
  /** For a pilgrim whose name is not shown. */
  somebody: 'A pilgrim',
  title: (name: string, event: string) => `${name} on the way · ${event}`,
  /** Under the title in a chat or a timeline. */
  description: (km: string, checkins: number, level: string) =>
    `${km} km, ${count(checkins, 'check-in', 'check-ins')}, ${level}`,
  imageAlt: (name: string) => `The card of ${name}: level, distance, check-ins and the route.`,
  km: 'Distance',
  checkins: 'Check-ins',
  level: 'Level',
  saved: 'Carbon saved',
  where: 'Where now',
  whereLast: 'Last known place',
  now: 'On the way now',
  resting: (since: string) => `Resting since ${since}`,
  lastHeard: (ago: string) => `Last heard ${ago} ago`,
  /** Why nothing is heard. */
  silence:
    'The phone may be out of signal, or its battery is empty. What it records is sent later, and the line is completed then.',
  nothingYet: 'No position since sharing began. It appears here by itself.',
  liveUntil: (at: string) => `The place is shown until ${at}`,
  notLive: 'This link shows the card alone.',
  minutes: (minutes: number) => count(minutes, 'minute', 'minutes'),
  hours: (hours: number, minutes: number) =>
    minutes === 0 ? count(hours, 'hour', 'hours') : `${hours} h ${minutes} min`,
  days: (days: number) => count(days, 'day', 'days'),
  next: 'Next station',
  expected: (at: string) => `expected about ${at}`,
  estimate: 'An estimate from the speed of the last hour. Rests are not included.',
  unknownArrival: 'A time is estimated after some more walking',
  distanceTo: (km: string) => `${km} km along the route`,
  openMap: 'Open in a map',
  mapAlt: 'The line of the last hours, and where the pilgrim is',
  ended: 'The event has ended. Thank you for walking along.',
  privacy: 'Whoever has this link sees this page. The pilgrim can end it at any time.',
  incomplete: 'What was recorded last is safe, and is not counted here yet.',
  ago: (time: string) => `${time} ago`,
  justNow: 'just now',
  card: {
    level: (number: number) => `Level ${number}`,
    checkins: 'check-ins',
    saved: 'CO₂ saved',
    achieved: 'Achievement unlocked',
  },
  goneTitle: 'This link shows nothing',
  gone: 'It has expired, was stopped, or is not complete. Ask for a new one if you would like to follow along.',
  awayTitle: 'One moment, please',
  away: 'The service does not answer right now. This page tries again by itself.',
}
