import type { ComponentChildren } from 'preact'

interface SheetProps {
  /** Name of the region for screen readers. */
  readonly label: string
  readonly open: boolean
  readonly onToggle: (open: boolean) => void
  /** Action of the grip, for screen readers. */
  readonly words: { readonly more: string; readonly less: string }
  /** Always visible, above the part that opens. */
  readonly summary?: ComponentChildren
  readonly children: ComponentChildren
}

/** A panel that opens upwards on a phone; a page's own style puts it at the side of a wide screen. */
export const Sheet = ({ label, open, onToggle, words, summary, children }: SheetProps) => (
  <section class="sheet" aria-label={label} data-open={open} data-over-map>
    <button
      type="button"
      class="sheet-grip"
      aria-expanded={open}
      aria-label={open ? words.less : words.more}
      onClick={() => onToggle(!open)}
    />
    <div class="sheet-body">
      {summary}
      {children}
    </div>
  </section>
)
