import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'className'> {
  /** `primary`: the main action; `danger`: cannot be undone; `plain`: without a frame. */
  readonly kind?: 'primary' | 'danger' | 'plain'
  /** The action is in progress: a second press does nothing. */
  readonly busy?: boolean
  /** Square, for a symbol alone. Requires a `label`. */
  readonly icon?: boolean
  /** Name for screen readers, if the content is not text. */
  readonly label?: string
  readonly children?: ComponentChildren
}

export function Button({ kind, busy = false, icon = false, label, onClick, ...rest }: ButtonProps) {
  const classes = ['button', kind, icon && 'icon'].filter(Boolean).join(' ')
  return (
    <button
      type="button"
      {...rest}
      class={classes}
      aria-label={label}
      title={label}
      aria-busy={busy}
      onClick={(event) => {
        if (!busy) onClick?.(event)
      }}
    />
  )
}

interface SegmentsProps<T extends string> {
  /** Name of the group for screen readers. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string; readonly lang?: string }[]
  readonly value: T
  /** A choice of sizes: each option is shown in its size. */
  readonly sizes?: boolean
  readonly onChoose: (value: T) => void
}

/** A choice between a few visible options. */
export const Segments = <T extends string>({ label, options, value, sizes, onChoose }: SegmentsProps<T>) => (
  <fieldset class={sizes ? 'segments sizes' : 'segments'} aria-label={label}>
    {options.map((option) => (
      <button
        type="button"
        key={option.value}
        lang={option.lang}
        aria-pressed={option.value === value}
        onClick={() => onChoose(option.value)}
      >
        {option.text}
      </button>
    ))}
  </fieldset>
)
