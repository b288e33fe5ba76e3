import { type ComponentChildren, createElement } from 'preact'
import { showToast } from '../../design/toast.tsx'
import { words } from '../words.ts'
interface ChoiceProps<T extends string | number> {
  readonly label: string
  /** A disabled option is shown and cannot be chosen. */
  readonly options: readonly (readonly [value: T, text: string, isEnabled?: boolean])[]
  readonly value: T
  /** The label is for screen readers only. */
  readonly bare?: boolean
  readonly name?: string
  /** @param select lets the caller revert a rejected choice */
  readonly onChoose: (value: T, select: HTMLSelectElement) => unknown
}

/** A selection of one option. */
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
  /** Multi-line text. */
  readonly long?: boolean
  /** Takes the full width of its form. */
  readonly wide?: boolean
  readonly onType: (text: string) => void
  readonly children?: ComponentChildren
}

/** A labelled text field. */
export function Field({ label, long = false, wide = false, onType, children, ...rest }: FieldProps) {
  const onInput = (event: InputEvent): void => onType((event.currentTarget as HTMLInputElement).value)
  return (
    <label class={wide ? 'field wide' : 'field'}>
      <span>{label}</span>
      {long
        ? createElement('textarea', { ...rest, onInput })
        : // Without `any`, a browser would reject 3 with a minimum of 0.1.
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
  /** A rejection is shown: the browser cannot read the file, or the page cannot load what reads it. */
  readonly onChoose: (file: File) => Promise<void>
}

/** Accepts a file by drag and drop, or from the file picker. */
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
        if (file !== undefined)
          void onChoose(file).catch((error: unknown) => {
            showToast(words.value.archive.notRead, { warning: true })
            if (!(error instanceof DOMException)) reportError(error)
          })
        // Allows choosing the same file again after it was changed.
        currentTarget.value = ''
      }}
    />
  </label>
)
