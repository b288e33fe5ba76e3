/** The words of the console's view of the event's lifecycle. */
import { count } from './count.ts'

export const consoleLifecycle = {
  lifecycle: {
    title: 'Lifecycle',
    state: (status: string) => `The event is ${status}`,
    since: (time: string) => `since ${time}`,
    pauseAndResume: 'Pause and resume',
    message: 'What pilgrims read',
    messageHint: 'Phones show it during the pause. At most 500 characters.',
    messagePlaceholder: 'Storm: stay where you are. We write at 07:00.',
    noMessage: 'The event is paused. Your check-ins and your way are kept here and sent when it goes on.',
    preview: 'On a phone',
    pause: 'Pause',
    pauseAsk: 'Pause…',
    resume: 'Resume',
    resumeAsk: 'Resume…',
    update: 'Change the message',
    pauseTitle: 'Pause the event?',
    pauseText: 'Check-ins and tracks are refused until you resume. Phones keep their points.',
    pauseWho: 'Who reads what',
    pauseVolunteers: (n: string) => `Volunteers get it in LINE at once: ${n}, as the message “Event paused”.`,
    pauseDevices: (devices: string) => `Devices of volunteers that get it by Web Push: ${devices}.`,
    pauseNobodyHas: 'No volunteer is told in LINE: nobody has that role.',
    pauseNobodyReached: (why: string) => `No volunteer is told in LINE. ${why}`,
    pauseWrite: 'Write to everybody with this text',
    resumeWrite: 'Write to everybody that it goes on',
    goesOn: 'The pilgrimage goes on.',
    resumeTitle: 'Resume the event?',
    resumeText: 'Check-ins and tracks are accepted again at once. Nobody gets a LINE message of it.',
    readBack: (status: string, time: string, name: string) =>
      `Done. The service answers: ${status}, changed at ${time} by ${name}.`,
    endTitle: 'End the event',
    endText:
      'The end is permanent. Check-ins, surveys and feedback are refused from then on, and so are points that phones have not sent yet: wait until the last pilgrims are home.',
    stillHeard: (n: string) =>
      `Pilgrims heard from in the last 60 minutes: ${n}. They may still be on the way.`,
    endSteps: 'What will happen now',
    endFlush: (points: string, pilgrims: string) =>
      `Points that wait in the buffer and are stored: ${points}, of pilgrims: ${pilgrims}`,
    endJournals: (points: number) =>
      `${count(points, 'point', 'points')} in journals, which follow by themselves`,
    endCards: (total: number, done: number) =>
      `${count(total, 'achievement card is', 'achievement cards are')} drawn (${count(done, 'is', 'are')} up to date)`,
    endCardsNone: (total: number, _done: number) =>
      `${count(total, 'achievement card is', 'achievement cards are')} drawn`,
    endSummary: (recipients: number, cost: number, left: string) =>
      `The summary goes to ${count(recipients, 'pilgrim', 'pilgrims')} in their languages and costs ${count(cost, 'message', 'messages')}; left this month: ${left}`,
    endSummaryNobody: (why: string) => `Nobody gets the summary in LINE. ${why}`,
    endSummaryUnknown: (why: string) => `The number of recipients is not known: ${why}`,
    endUnlimited: 'no limit',
    endButton: 'End the event…',
    endConfirm: 'End the event for ever',
    progress: 'The end in progress',
    ended: 'The event has ended',
    progressFlush: 'Final flush',
    progressCards: 'Cards',
    progressSummary: 'Summary',
    flushRunning: (points: number) => count(points, 'point waits', 'points wait'),
    flushDone: 'all points that have arrived are stored',
    cardsOf: (done: string, total: string) => `${done} of ${total}`,
    noCards: 'none to draw',
    cardsWaiting: 'counted after the flush',
    summaryStates: {
      waiting: 'waits for the flush',
      sent: 'sent',
      skipped: 'not sent: LINE is not set up',
    },
    summaryFigures: (sent: string, total: string, _failed: string) => `${sent} of ${total} sent`,
    summaryFailed: (sent: string, total: string, failed: string) =>
      `${sent} of ${total} sent, ${failed} failed; Messages tells why`,
    summaryNobody: 'nobody can be reached in LINE',
    finished: 'The end is complete.',
    readSummary: 'Read the summary under Messages',
    finishedWithout: 'The end is complete. The summary was not sent in LINE.',
    silent: 'See who is silent',
    afterTitle: 'What is still possible after the end',
    after: [
      'You can write to everybody under Messages. Reminders are not sent any more.',
      'Points, check-ins, surveys and feedback are refused; what was accepted is stored.',
      'Pilgrims see their walk, correct it, get their files and cards, and can have their data erased.',
    ],
    history: 'History',
    pausedFor: (time: string) => `after a pause of ${time}`,
    noHistory: 'Never paused.',
    kinds: { started: 'Started', paused: 'Paused', resumed: 'Resumed', ended: 'Ended', push: 'Message' },
  },
}
