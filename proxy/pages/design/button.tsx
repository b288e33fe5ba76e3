import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'class' | 'className'> {
  /** `primary`: the one thing to do; `danger`: what can not be undone; `plain`: without a frame. */
  readonly kind?: 'primary' | 'danger' | 'plain'
  /** The action is under way: a second press does nothing. */
  readonly busy?: boolean
  /** Square, for a symbol alone. It then needs a `label`. */
  readonly icon?: boolean
  /** Name for screen readers, where the content is no text. */
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
  /** Name of the choice for screen readers. */
  readonly label: string
  readonly options: readonly { readonly value: T; readonly text: string; readonly lang?: string }[]
  readonly value: T
  /** A choice of sizes: each is written as large as it is. */
  readonly sizes?: boolean
  readonly onChoose: (value: T) => void
}

/** A choice of a few, all in sight. */
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
