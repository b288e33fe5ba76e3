import { emblem } from '#shared/core/rules/emblems.ts'

/** The emblem of a level, 1 to 9 (not in symbol.tsx: the map needs no drawings of levels), in the colour of the text around it. It has no name: a text beside it says the level. */
export const Emblem = ({ level }: { readonly level: number }) => (
  <span
    class="emblem"
    aria-hidden="true"
    // The drawing is a constant of ours.
    dangerouslySetInnerHTML={{ __html: emblem(level, 'currentColor', 'var(--surface)') }}
  />
)
