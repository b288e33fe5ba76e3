import { type ComponentChildren, createElement } from 'preact'
interface ChoiceProps<T extends string | number> {
  readonly label: string
  /** One that is not enabled is shown and cannot be chosen. */
  readonly options: readonly (readonly [value: T, text: string, isEnabled?: boolean])[]
  readonly value: T
  /** The label is for screen readers alone. */
  readonly bare?: boolean
  readonly name?: string
  /** @param select for whoever takes a refused choice back */
  readonly onChoose: (value: T, select: HTMLSelectElement) => unknown
}

/** A choice of one of many. */
export function Choice<T extends string | number>(props: ChoiceProps<T>) {
  const { label, options, value, bare = false, name, onChoose } = props
  const select = (
    <select
      name={name}
      aria-label={bare ? label : undefined}
      value={value}
      onChange={({ currentTarget }) => onChoose(options[currentTarget.selectedIndex]![0], currentTarget)}
    >
      {options.map(([of, text, isEnabled = true]) => (
        <option key={of} value={of} disabled={!isEnabled}>
          {text}
        </option>
      ))}
    </select>
  )
  return bare ? (
    select
  ) : (
    <label class="field">
      <span>{label}</span>
      {select}
    </label>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string | number
  readonly type?: 'text' | 'search' | 'number' | 'datetime-local'
  readonly name?: string
  readonly required?: boolean
  readonly maxLength?: number
  readonly min?: string
  readonly max?: string
  readonly placeholder?: string
  readonly list?: string
  readonly inputMode?: 'url'
  readonly autocomplete?: 'off'
  readonly spellcheck?: boolean
  /** It has room for many lines. */
  readonly long?: boolean
  /** It takes a line of its own in its form. */
  readonly wide?: boolean
  readonly onType: (text: string) => void
  readonly children?: ComponentChildren
}

/** A named field for what is typed. */
export function Field({ label, long = false, wide = false, onType, children, ...rest }: FieldProps) {
  const onInput = (event: InputEvent): void => onType((event.currentTarget as HTMLInputElement).value)
  return (
    <label class={wide ? 'field wide' : 'field'}>
      <span>{label}</span>
      {long
        ? createElement('textarea', { ...rest, onInput })
        : // A number is no multiple of anything: a browser would refuse 3 beside a least of 0.1.
          createElement('input', {
            type: 'text',
            step: rest.type === 'number' ? 'any' : undefined,
            ...rest,
            onInput,
          })}
      {children}
    </label>
  )
}

interface SearchProps {
  readonly label: string
  readonly class: string
  readonly value: string
  readonly onType: (text: string) => void
}

export const SearchField = ({ label, onType, ...rest }: SearchProps) => (
  <input
    type="search"
    {...rest}
    aria-label={label}
    placeholder={label}
    onInput={(event) => onType(event.currentTarget.value)}
  />
)

interface FileDropProps {
  readonly title: string
  readonly note: string
  readonly accept: string
  readonly name?: string
  readonly onChoose: (file: File) => unknown
}

/** Takes a file that is dropped on it, or chosen. */
export const FileDrop = ({ title, note, accept, name, onChoose }: FileDropProps) => (
  <label class="drop">
    <strong>{title}</strong>
    <span class="small">{note}</span>
    <input
      type="file"
      name={name}
      accept={accept}
      onChange={({ currentTarget }) => {
        const file = currentTarget.files?.[0]
        if (file !== undefined) onChoose(file)
        // The same file can be chosen again once it was changed.
        currentTarget.value = ''
      }}
    />
  </label>
)
