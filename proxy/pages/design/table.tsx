import type { ComponentChildren } from 'preact'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ComponentChildren
  /** Whether the column is right-aligned, as for figures. */
  readonly number?: boolean
  /** Makes the column sortable; `onSort` receives this name. */
  readonly sort?: string
}

interface TableProps<T> {
  readonly caption: string
  /** A title beside the table repeats the caption, which is then only for screen readers. */
  readonly titled?: boolean
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string | number
  readonly sorted?: { readonly by: string; readonly descending: boolean }
  readonly onSort?: (by: string) => void
  /** Shown in place of rows. */
  readonly empty?: string
}

export const Table = <T,>(props: TableProps<T>) => {
  const { caption, titled = false, columns, rows, keyOf, sorted, onSort, empty } = props
  return (
    <section class="table-frame" tabIndex={0} aria-label={caption}>
      <table>
        <caption class={titled ? 'visually-hidden' : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.name} column={column} sorted={sorted} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, number }) => (
                <td key={name} class={number ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && empty !== undefined ? (
            <tr>
              <td class="quiet" colSpan={columns.length}>
                {empty}
              </td>
            </tr>
          ) : null}
        </tbody>
      </table>
    </section>
  )
}

interface HeadProps<T> {
  readonly column: Column<T>
  readonly sorted: TableProps<T>['sorted'] | undefined
  readonly onSort: TableProps<T>['onSort'] | undefined
}

function Head<T>({ column: { name, number, sort }, sorted, onSort }: HeadProps<T>) {
  const classes = number ? 'number' : undefined
  if (sort === undefined)
    return (
      <th scope="col" class={classes}>
        {name}
      </th>
    )
  const current = sorted?.by === sort
  const order = sorted?.descending ? 'descending' : 'ascending'
  return (
    <th scope="col" class={classes} aria-sort={current ? order : 'none'}>
      <button type="button" onClick={() => onSort?.(sort)}>
        {name} {current ? (order === 'descending' ? '▾' : '▴') : ''}
      </button>
    </th>
  )
}
