/** The page at an address that is none. */
export const words = {
  title: 'There is no page at this address.',
  map: 'To the map',
  walk: 'To the app',
}
