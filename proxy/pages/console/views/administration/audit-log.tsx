import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Data, Input } from '#shared/client/index.ts'
import { type Column, Table } from '../../../design/table.tsx'
import { date } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { Pages } from '../../parts/pages.tsx'

type Entry = Data<'listAudit'>['items'][number]
interface Filters {
  readonly action: string
  readonly token_name: string
  readonly search: string
  readonly since: string
}

const EVERY_MS = 30_000
const PAGE = 30
const TYPING_MS = 400
const NO_FILTERS: Filters = { action: '', token_name: '', search: '', since: '' }

function queryOf(filters: Filters, cursor: string | undefined): Input<'listAudit'> {
  const { since, ...texts } = filters
  const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text.trim() !== ''))
  return {
    limit: PAGE,
    ...given,
    ...(since === '' ? {} : { since: new Date(since).toISOString() }),
    ...(cursor === undefined ? {} : { cursor }),
  }
}

/** Every write of an operator, with filters. */
export function AuditLog() {
  const typed = useSignal(NO_FILTERS)
  const filters = useSignal(NO_FILTERS)
  const cursor = useSignal<string | undefined>(undefined)
  const current = typed.value
  useEffect(() => {
    const timer = setTimeout(() => {
      filters.value = current
      cursor.value = undefined
    }, TYPING_MS)
    return () => clearTimeout(timer)
  }, [current, filters, cursor])
  const query = queryOf(filters.value, cursor.value)
  const list = useResource((signal) => client.listAudit(query, { signal }), EVERY_MS, JSON.stringify(query))
  return (
    <PanelFrom title={words.value.house.audit} kind="audit" from={list}>
      {({ items, next_cursor }) => (
        <>
          <FilterFields filters={current} onChange={(next) => (typed.value = next)} />
          <Table
            caption={words.value.house.audit}
            columns={columns()}
            rows={items}
            keyOf={({ id }) => id}
            empty={words.value.common.none}
          />
          <Pages
            next={next_cursor}
            isFirst={cursor.value === undefined}
            onPage={(to) => (cursor.value = to)}
          />
        </>
      )}
    </PanelFrom>
  )
}

interface FilterProps {
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
}

function FilterFields({ filters, onChange }: FilterProps) {
  const said = words.value.house
  const fields = [
    ['action', said.action, 'search'],
    ['token_name', said.who, 'search'],
    ['search', said.details, 'search'],
    ['since', said.since, 'datetime-local'],
  ] as const
  return (
    <div class="row filters">
      {fields.map(([name, label, type]) => (
        <label key={name} class="field">
          <span>{label}</span>
          <FilterInput
            type={type}
            value={filters[name]}
            onInput={(value) => onChange({ ...filters, [name]: value })}
          />
        </label>
      ))}
    </div>
  )
}

interface InputProps {
  readonly type: 'search' | 'datetime-local'
  readonly value: string
  readonly onInput: (value: string) => void
}

const FilterInput = ({ type, value, onInput }: InputProps) =>
  type === 'search' ? (
    <input
      type="search"
      maxLength={64}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  ) : (
    <input type="datetime-local" value={value} onInput={(event) => onInput(event.currentTarget.value)} />
  )

function columns(): Column<Entry>[] {
  const said = words.value.house
  return [
    { name: words.value.reports.when, cell: ({ at }) => date(at) },
    {
      name: said.who,
      cell: ({ token_name, role }) => (
        <>
          {token_name} <span class="small quiet">{role === 'pilgrim' ? role : words.value.roles[role]}</span>
        </>
      ),
    },
    { name: said.action, cell: ({ action }) => action },
    { name: said.details, cell: ({ details }) => <code class="small">{detailText(details)}</code> },
  ]
}

const detailText = (details: Entry['details']): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
