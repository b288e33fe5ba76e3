/** The survey in English: the pattern of the other languages. Answers are named by the values that are sent. */
import { count } from './count.ts'

export const words = {
  title: 'Survey',
  intro: (questions: number) =>
    `${count(questions, 'short question', 'short questions')}. Each answer is kept at once; you may stop and go on later.`,
  progress: (number: number, of: number) => `Question ${number} of ${of}`,
  next: 'Next',
  before: 'Previous',
  send: 'Send the answers',
  replaces:
    'You have answered with another phone. Those answers are not shown here; what you send here replaces them.',
  waits:
    'Not sent yet. Your answers are on this phone and are sent by themselves when there is a network. You need not press again.',
  change: 'Change them',
  sent: 'Thank you! Your answers have arrived.',
  nothing: 'Please answer at least one question.',
  open: (number: number) =>
    `${count(number, 'question has', 'questions have')} no answer. You may send all the same.`,
  toOpen: 'Go to the first of them',
  several: 'Several answers are possible.',
  questions: {
    q1: {
      ask: 'How often have you walked this pilgrimage?',
      answers: { first: 'This is the first time', few: '2 to 4 times', often: '5 times or more' },
    },
    q2: {
      ask: 'Who do you walk with?',
      answers: { alone: 'Alone', family: 'Family', friends: 'Friends', group: 'A temple or a group' },
    },
    q3: {
      ask: 'Why do you walk?',
      answers: { faith: 'Faith', vow: 'A vow', health: 'Health', culture: 'Culture', company: 'Company' },
    },
    q4: {
      ask: 'How old are you?',
      answers: {
        '-17': 'Under 18',
        '18-34': '18 to 34',
        '35-54': '35 to 54',
        '55-69': '55 to 69',
        '70-': '70 or older',
      },
    },
    q5: {
      ask: 'How did you come to the start?',
      answers: {
        foot: 'On foot',
        car: 'Car',
        scooter: 'Scooter',
        bus: 'Bus',
        train: 'Train',
        hsr: 'High-speed rail',
      },
    },
    q6: {
      ask: 'Where do you sleep on the way?',
      answers: {
        home: 'At home',
        temple: 'Temple or hall',
        hotel: 'Hotel',
        outside: 'Outside',
        friends: 'With people I know',
      },
    },
    q7: {
      ask: 'What are you here?',
      answers: { pilgrim: 'Pilgrim', volunteer: 'Volunteer', resident: 'I live here', visitor: 'Visitor' },
    },
    q8: {
      ask: 'How safe did you feel?',
      answers: { 5: 'Very safe', 4: 'Safe', 3: 'So so', 2: 'Unsafe', 1: 'Very unsafe' },
    },
    q9: {
      ask: 'How did you like this app?',
      answers: { 5: 'Very much', 4: 'Well', 3: 'So so', 2: 'Not much', 1: 'Not at all' },
    },
    q10: { ask: 'What else do you want to tell us?', answers: {} },
  },
}
