/** The view that adds a recorded file to the walk, in English: the pattern of the other languages. */
import { figure } from '../units.ts'
import { count } from './count.ts'

export const words = {
  why: 'A track that a watch or another app recorded: GPX, KML or TCX, also packed (gzip, zip).',
  choose: 'Choose a file',
  chooseOther: 'Choose another file',
  reading: 'Reading the file …',
  km: (km: number) => `${figure(km)} km`,
  rides: (km: number) => `of these ${figure(km)} km by vehicle`,
  time: (from: string, to: string) => `${from} to ${to}`,
  once: 'What is already in your walk does not count twice. Places outside the event’s area do not count.',
  leftOut: 'Left out:',
  reasons: {
    early: (points: number, days: number) =>
      `${count(points, 'point', 'points')} older than ${count(days, 'day', 'days')}`,
    late: (points: number) => `${count(points, 'point', 'points')} in the future`,
    untimed: (points: number) => `${count(points, 'point', 'points')} without a time`,
    misplaced: (points: number) => `${count(points, 'point', 'points')} without a place`,
    repeated: (points: number) => `${count(points, 'point', 'points')} at the same moment as another`,
    rough: (points: number) => `${count(points, 'point', 'points')} accurate to 100 m or worse`,
  },
  add: 'Add to my walk',
  added: (points: number) => `Saved on this phone: ${count(points, 'place', 'places')}.`,
  notKept: 'This phone could not save it. Nothing was added. Please try again.',
  faults: {
    unreadable: 'The phone cannot open this file. Please choose it again.',
    empty: 'The file is empty.',
    'too-large': 'The file is too large. Please export fewer days.',
    'damaged-archive': 'The packed file is damaged or encrypted. Please export it again.',
    'nothing-inside': 'The archive holds no GPX, KML or TCX file.',
    'several-inside': 'The archive holds several files. Please unpack it and add them one by one.',
    'not-xml': 'The file is damaged or cut short. Please export it again.',
    'unknown-format': 'This is not GPX, KML or TCX. Please export the track as GPX.',
    'no-track': 'The file holds no recorded track, perhaps only a planned route.',
    'no-times': 'The points have no times. Only a recorded track counts.',
    rough: 'Every point is accurate to 100 m or worse. Nothing would count.',
  },
  tooOld: (from: string, days: number) =>
    `Recorded on ${from}. The event takes at most ${count(days, 'day', 'days')} back.`,
  future: (from: string) =>
    `Recorded on ${from}, in the future. The clock of the phone or the recorder is wrong.`,
  mixed: 'No point has a time that the event takes.',
}
