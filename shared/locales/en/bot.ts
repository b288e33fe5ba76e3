import type { BotAction, Language } from '#shared/contracts/bot.ts'
import { figure } from '../units.ts'
import { count } from './count.ts'
import { levels } from './levels.ts'

export const bot = {
  language: 'en' as Language,
  /** What follows is the event's own where the owner has set it. */
  levels,
  followed: 'procession',
  /** Labels of buttons: at most 20 characters. */
  labels: {
    checkin: 'Check in',
    help: 'Help',
    level: 'My level',
    carbon: 'My carbon',
    card: 'My card',
    share: 'Share',
    survey: 'Survey',
    map: 'Map',
    report: 'Report',
    data: 'My data',
    about: 'About',
  } satisfies Record<BotAction, string>,
  /** Text of the chat bar: at most 14 characters. */
  chatBar: 'Pilgrim menu',
  open: 'Open',
  welcome: (event: string) =>
    `Welcome to ${event}! Check in from the menu below: every step you walk is counted.`,
  unknown: 'Sorry, I do not understand that yet. What would you like?',
  /** The answer to words of distress. `organisers` is also a button's label. */
  emergency: {
    call: (number: string) => `In an emergency, call ${number}`,
    callLocal: 'In an emergency, call the local emergency number',
    organisers: 'Call the organisers',
    automatic:
      'This is an automatic answer: nobody reads this chat in time to help. Say where you are when you call.',
  },
  /** An alert to the organisers. `call`, `map` and `console` are labels of buttons. */
  sos: {
    title: (name: string) => `🆘 SOS: ${name}`,
    many: (unconfirmed: number, withPoints: number) =>
      `🆘 ${count(unconfirmed, 'emergency', 'emergencies')} not confirmed, ${figure(withPoints)} of pilgrims who have recorded a walk`,
    unconfirmed: (minutes: number) => `Nobody has confirmed it for ${figure(minutes)} min.`,
    pressed: 'Pressed at',
    place: 'Place',
    lastPlace: 'Last known place',
    phone: 'Phone',
    unknown: 'not known',
    call: 'Call the pilgrim',
    map: 'Show the place',
    console: 'Open the console',
    confirm: 'Confirm it in the console, so that others know who takes care of it.',
  },
  checkin:
    'Tap the button to open the check-in page and allow it to see your position. It works without a signal too: what you record is sent later.',
  help: [
    'Check in: opens the check-in page and records where you are.',
    'My level: kilometres, check-ins, and what the next level needs.',
    'My carbon: what your way has emitted and saved.',
    'My card: a picture of your result, to share.',
    'Survey: about three minutes.',
    'Photos you send here are added to your photo count.',
  ],
  survey: 'Please take three minutes for the survey: it helps us to do better.',
  surveyDone: 'You have answered the survey, thank you! You can still change your answers.',
  share: (event: string) => `I am walking ${event}. Come and join!`,
  about: (event: string) =>
    `${event} records the way of each pilgrim: distance, check-ins, level and carbon footprint.`,
  map: (followed: string) => `The map shows where the ${followed} is now, and when it reaches each station.`,
  report: 'Tell the organisers about a problem or an idea, with a picture if you like.',
  data: 'In the app you can see your data, take a copy along, and delete everything.',
  /** The answer to a location. */
  location: 'A location sent here is not recorded. Tap the button to check in where you are.',
  card: 'This is your card. Press and hold it to save or share it.',
  /** Instead of the card, after a withdrawal. */
  noLink: 'You have withdrawn, so nothing of yours is shared. Take part again to get your card.',
  level: 'Level',
  distance: 'Distance',
  checkins: 'Check-ins',
  times: (checkins: number) => figure(checkins),
  next: 'Next level',
  nextNeeds: (km: string, checkins: number) =>
    `${km} km and ${count(checkins, 'check-in', 'check-ins')} to go`,
  top: 'You have reached the highest level!',
  nothingYet: 'There is nothing of yours yet. Your figures appear here after your first check-in.',
  /** Shown with figures that lack the pending points. */
  /** In place of figures, where the bot cannot know the walk that the app records. */
  otherWalk:
    'Your walk is recorded in the app, and this chat cannot see it. Your kilometres, check-ins, level and card are in the app.',
  incomplete:
    'What you recorded last is safe, and is not counted here yet. Please ask again in a few minutes.',
  emitted: 'Emitted',
  saved: 'Saved against the bus',
  carbonNote: 'Walking and cycling emit nothing; what you ride counts by its kind.',
  photo: (photos: number) => `Got your photo! ${count(photos, 'photo', 'photos')} so far.`,
  /** For several photos whose number is unknown. */
  photos: 'Got your photos!',
  paused: (message: string | null) =>
    `[Event paused] Check-ins and tracks are not taken for now. ${message ?? 'More information will follow.'}`,
  rehearsal: (event: string) => `Rehearsal: ${event}`,
  summaryTitle: (event: string) => `${event} has come to its end`,
  /** Totals of the whole event. */
  summary: (pilgrims: number, checkins: number, km: number, savedKg: number) =>
    `Thank you all: ${count(pilgrims, 'pilgrim', 'pilgrims')} travelled ${figure(km)} km, rides included, with ${count(checkins, 'check-in', 'check-ins')}, and saved ${figure(savedKg)} kg of CO2 against the bus.`,
  personOnly: 'Add me as a friend to see your own figures in a chat between the two of us.',
}
