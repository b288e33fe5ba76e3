export const words = {
  language: 'Language',
  theme: 'Colours of the screen',
  themes: { auto: 'Auto', light: 'Light', dark: 'Night', sun: 'Sun' },
  letters: 'Text size',
  letterSizes: { normal: 'Normal', larger: 'Larger', largest: 'Largest' },
  close: 'Close',
  cancel: 'Cancel',
  more: 'Show more',
  less: 'Show less',
  /** What a pause means, for pilgrims and for readers of the map. */
  paused: 'The event is paused. Check-ins and walks are saved on the phone and sent when it goes on.',
  organisers: 'From the organisers:',
  mapKeys: 'Arrow keys move the map, plus and minus zoom.',
  /** What pilgrims follow, as part of a sentence. */
  followed: { procession: 'procession', walk: 'walk', relay: 'relay' },
  /** The device that leads it. A walk has none. */
  leader: { procession: 'Palanquin', walk: '', relay: 'Baton' },
  map: 'Map',
  where: (followed: string) => `Where is the ${followed}?`,
  walkAlong: 'Walk along',
  offline: 'No connection. This page goes on by itself.',
  settings: 'Settings',
  mapSource: 'Map: Ministry of the Interior, Taiwan',
  closer: 'Closer',
  farther: 'Farther',
  /** A name and its value. */
  pair: (name: string, text: string) => `${name}: ${text}`,
  aside: (text: string, aside: string) => `${text} (${aside})`,
}
