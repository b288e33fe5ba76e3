/** The page for unknown addresses. */
export const words = {
  title: 'There is no page at this address.',
  map: 'To the map',
  walk: 'To the app',
}
