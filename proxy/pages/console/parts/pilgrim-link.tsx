import { show } from '../router.ts'

/** So much of an id is told apart by eye. */
const SHORT = 10

/** The end of an id, which tells two people of one name apart. */
export const endOfId = (userId: string): string => userId.slice(-6)

interface PilgrimLinkProps {
  readonly userId: string
  /** The name, where it is known; else the beginning of the id stands for it. */
  readonly name?: string | null
}

/** A pilgrim within a text; it leads to the person. */
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
