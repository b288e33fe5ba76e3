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
  imageAlt: (name: string) => `The card of ${name}.`,
  km: 'Distance',
  checkins: 'Check-ins',
  level: 'Level',
  saved: 'Carbon saved',
  where: 'Where now',
  whereLast: 'Last known place',
  now: 'On the way now',
  resting: (since: string) => `Resting since ${since}`,
  lastHeard: (ago: string) => `Last heard ${ago} ago`,
  /** Possible reasons why no news has arrived. */
  silence: 'Perhaps no signal, or an empty battery. What the phone records comes later.',
  nothingYet: (name: string) => `No place of ${name} yet`,
  /** When a place will be there. */
  placeAppears:
    'The place appears here with the next check-in, or when the phone has recorded the next steps.',
  liveUntil: (at: string) => `The place is shown until ${at}`,
  notLive: 'This link shows the card alone.',
  minutes: (minutes: number) => count(minutes, 'minute', 'minutes'),
  hours: (hours: number, minutes: number) =>
    minutes === 0 ? count(hours, 'hour', 'hours') : `${hours} h ${minutes} min`,
  days: (days: number) => count(days, 'day', 'days'),
  next: 'Next station',
  expected: (at: string) => `expected about ${at}`,
  estimate: 'At the speed of the last hour, without rests.',
  unknownArrival: 'A time follows after some more walking',
  distanceTo: (km: string) => `${km} km along the route`,
  openMap: 'Open in a map',
  mapAlt: 'The line of the last hours, and where the pilgrim is',
  ended: 'The event has ended. Thank you for walking along.',
  privacy: 'Whoever has this link sees this page, until the pilgrim ends it.',
  incomplete: 'The newest places are not counted yet.',
  ago: (time: string) => `${time} ago`,
  justNow: 'just now',
  card: {
    level: (number: number) => `Level ${number}`,
    checkins: 'check-ins',
    saved: 'CO₂ saved',
    achieved: 'Achievement unlocked',
  },
  goneTitle: 'This link shows nothing',
  gone: 'It has expired, was stopped, or is not complete. Please ask for a new one.',
  awayTitle: 'One moment, please',
  away: 'The service does not answer. This page tries again by itself.',
  tooMany: 'Too many requests from this network. This page tries again by itself.',
}
