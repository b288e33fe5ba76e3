/** Words of the own way: figures, map, carbon and stations. A part of walk.ts. */
import { count } from './count.ts'

export const way = {
  title: 'My way',
  level: (number: number) => `Level ${number}`,
  saved: 'CO₂ saved so far',
  next: (level: string, km: number, checkIns: number) =>
    `To “${level}”: ${[km > 0 && `${km} km`, checkIns > 0 && count(checkIns, 'check-in', 'check-ins')].filter(Boolean).join(' and ')} more.`,
  highest: 'You have reached the highest level.',
  first: 'Your way begins with the first check-in.',
  day: 'Day',
  map: (day: string, km: number) => `Map of your way on ${day}: ${km} km`,
  dayBefore: 'The day before',
  dayAfter: 'The day after',
  larger: 'Open the map',
  wholeDay: 'Whole day',
  mapKeys: 'Arrow keys move the map, plus and minus zoom.',
  dayMissing: 'This day is not on this phone yet. It comes when there is a network.',
  onFoot: (km: number) => `${km} km on foot or by bicycle: no emission.`,
  why: 'How is this counted?',
  carbon: (amount: string | null) =>
    amount === null ? 'No rides, no CO₂ on this day' : `Your rides on this day caused ${amount} CO₂`,
  motor: (from: string, to: string, mode: string, km: number, speed: number, carbon: string) =>
    `${from} to ${to}: ${km} km by ${mode}, ${speed} km/h, ${carbon}`,
  bySpeed: 'Faster than 15 km/h counts as a bus, because the phone does not know what you rode in.',
  modes: {
    walk: 'foot',
    car: 'car',
    scooter: 'scooter',
    bike: 'bicycle',
    bus: 'bus',
    mrt: 'metro',
    train: 'train',
    hsr: 'high-speed rail',
  },
  stations: 'The next stations',
  nextStation: 'Next station:',
  noPlace: 'Check in, or start to record: then you see the next station here.',
  offRoute: (far: string, direction: string) =>
    `You are away from the route. It is about ${far} to your ${direction}. Back on it, you see the next station here.`,
  directions: ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'],
  lastStation: 'The last station is behind you.',
  placeOf: (time: string) => `From your place at ${time}.`,
  stationAt: (km: number, time: string) => `${km} km, about ${time}`,
  stationFar: (km: number) => `${km} km`,
  estimateLater: (minutes: number) =>
    `After about ${count(minutes, 'more minute', 'more minutes')} of walking you see here when you arrive.`,
  estimate: (kmh: number) => `The times are estimates from your own pace of ${kmh} km/h, rests included.`,
  asOf: (time: string) => `As of ${time}`,
  withoutPending: 'The newest points are still on their way.',
  checkInsOfDay: 'Check-ins of the day',
  notCounted: 'far from the route, not counted',
}
