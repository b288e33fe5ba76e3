interface ChoiceProps<T extends string | number> {
  readonly label: string
  readonly options: readonly (readonly [value: T, text: string])[]
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
      {options.map(([of, text]) => (
        <option key={of} value={of}>
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
