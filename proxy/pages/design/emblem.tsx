import { emblem } from '#shared/core/rules/emblems.ts'

/**
 * The emblem of a level, 1 to 9, in the colour of the surrounding text. It has no accessible name, because a text
 * beside it names the level. It is not in symbol.tsx, because the map needs no emblems.
 */
export const Emblem = ({ level }: { readonly level: number }) => (
  <span
    class="emblem"
    aria-hidden="true"
    // The drawing is our own constant.
    dangerouslySetInnerHTML={{ __html: emblem(level, 'currentColor', 'var(--surface)') }}
  />
)
