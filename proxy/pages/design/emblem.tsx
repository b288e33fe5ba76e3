import { emblem } from '#shared/core/rules/emblems.ts'

/**
 * The emblem of a level, 1 to 9, in the colour of the text around it. It has no name: a text beside it says the level.
 * It is not in symbol.tsx, because the map needs no drawings of levels.
 */
export const Emblem = ({ level }: { readonly level: number }) => (
  <span
    class="emblem"
    aria-hidden="true"
    // The drawing is a constant of ours.
    dangerouslySetInnerHTML={{ __html: emblem(level, 'currentColor', 'var(--surface)') }}
  />
)
