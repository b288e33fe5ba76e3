import { show } from '../router.ts'

/** Number of characters of an id that people can tell apart. */
const SHORT = 10

/** The end of an id, which distinguishes people of the same name. */
export const endOfId = (userId: string): string => userId.slice(-6)

interface PilgrimLinkProps {
  readonly userId: string
  /** The name, if known; otherwise the start of the id is shown. */
  readonly name?: string | null
}

/** A pilgrim within a text, linked to the person's view. */
export const PilgrimLink = ({ userId, name = null }: PilgrimLinkProps) => (
  <button
    type="button"
    class="name-button inline"
    title={userId}
    onClick={() => show('people', { person: userId, name })}
  >
    <strong>{name ?? (userId.length > SHORT ? `${userId.slice(0, SHORT)}…` : userId)}</strong>
  </button>
)
