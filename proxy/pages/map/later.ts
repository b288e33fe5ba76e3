/** What the map shows after its first view. A script of its own: it imports nothing that the page itself uses. */
import { showPlaces } from './places.ts'
import { showRehearsal } from './rehearsal-bar.ts'

export function showLater(
  rehearsal: Parameters<typeof showRehearsal>,
  ...places: Parameters<typeof showPlaces>
): void {
  showRehearsal(...rehearsal)
  showPlaces(...places)
}
