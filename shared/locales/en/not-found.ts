/** The page for unknown addresses. */
export { words as page } from './all-pages.ts'

export const words = {
  title: 'There is no page at this address.',
  map: 'To the map',
  walk: 'To the app',
}
