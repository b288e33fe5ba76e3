/** The beginning of a LINE message, for lists: of a text its text, of a card its alternative text. */
import { cutText } from '#shared/contracts/fields.ts'

const MAX = 200

/** @param body the stored messages of one push; null for a picture without text */
export function textOfMessage(body: readonly unknown[] | null): string | null {
  for (const message of body ?? []) {
    const { text, altText } = message as { readonly text?: unknown; readonly altText?: unknown }
    const found = typeof text === 'string' ? text : typeof altText === 'string' ? altText : null
    if (found !== null) return cutText(found, MAX)
  }
  return null
}
