export const words = {
  language: 'Language',
  theme: 'Colours of the screen',
  themes: { auto: 'Auto', light: 'Light', dark: 'Night', sun: 'Sun' },
  close: 'Close',
  cancel: 'Cancel',
  more: 'Show more',
  less: 'Show less',
  notFound: { title: 'There is no page at this address.', map: 'To the map', walk: 'To the app' },
  settings: 'Settings',
  mapSource: 'Map: Ministry of the Interior, Taiwan',
  closer: 'Closer',
  farther: 'Farther',
  /** A name, and what is said of it. */
  pair: (name: string, text: string) => `${name}: ${text}`,
  aside: (text: string, aside: string) => `${text} (${aside})`,
  /** Level 1 first. */
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
