import type { PageWords } from '../page-words.ts'

export const page: PageWords = {
  language: 'Language',
  theme: 'Colours of the screen',
  themes: { auto: 'Auto', light: 'Light', dark: 'Night', sun: 'Sun' },
  close: 'Close',
  cancel: 'Cancel',
  more: 'Show more',
  less: 'Show less',
  settings: 'Settings',
  levels: [
    'Qi Refining Pilgrim',
    'Foundation Pilgrim',
    'Golden Core Pilgrim',
    'Nascent Soul Pilgrim',
    'Spirit Pilgrim',
    'Void Pilgrim',
    'Unity Pilgrim',
    'Mahayana Pilgrim',
    'Ascended Pilgrim',
  ],
}
