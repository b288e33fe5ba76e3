/** The words of the console's scheduled reminders. */
import { figure } from '../units.ts'
import { count } from './count.ts'

export const consoleSchedule = {
  schedule: {
    title: 'Schedule',
    help: 'Reminders that the service sends by itself, at a whole hour.',
    defaults: 'Every event begins with these; change them as you like.',
    ended: 'The event has ended: nothing of this schedule is sent any more.',
    paused: 'The event is paused: nothing of this schedule is sent until it resumes.',
    notSent: 'not sent any more',
    ownerOnly: 'Only an owner changes the schedule.',
    next: (day: string, time: string) => `Next: ${day}, ${time}`,
    running: (time: string) => `This hour, since ${time}`,
    over: 'Over: none of its days is left',
    isOff: 'Switched off: it is not sent',
    everyDay: 'every day of the event',
    someDays: 'on these days',
    on: 'On',
    off: 'Off',
    turn: 'Send this reminder',
    add: 'Add a reminder',
    edit: 'Edit',
    remove: 'Remove',
    removed: (text: string, n: number) =>
      `Removed: “${text}”. The list on the service has ${count(n, 'reminder', 'reminders')}.`,
    undo: 'Take back',
    saved: (n: number) => `Saved. The list on the service has ${count(n, 'reminder', 'reminders')}.`,
    addTitle: 'A new reminder',
    editTitle: 'Change this reminder',
    text: 'Text',
    englishHint: 'Everybody else gets the Chinese text.',
    englishOld: 'Only the Chinese text was changed.',
    when: 'When',
    days: 'Days, in the time zone of the event',
    day: (n: number) => `Day ${n}`,
    addDay: 'Another day',
    removeDay: (n: number) => `Remove day ${n}`,
    hour: 'Time, a whole hour',
    counted: (recipients: number, cost: number) =>
      `Now ${count(recipients, 'person gets', 'people get')} it in LINE. Each time it is sent, it uses ${count(cost, 'message', 'messages')} of the quota.`,
    countedWithoutLine: (recipients: number, _cost: number) =>
      `Recipients: ${figure(recipients)}. LINE is not configured, so nobody gets it in LINE.`,
    devices: (devices: number) =>
      `By Web Push it also reaches ${count(devices, 'device', 'devices')}, at no cost in messages.`,
    counting: 'Counting the recipients…',
    sentOnce: 'One that was sent today is not sent again today.',
    atOnce: 'This hour has begun: it is sent within a minute after you save it.',
    never: 'None of these days and hours is left: it would never be sent.',
  },
}
