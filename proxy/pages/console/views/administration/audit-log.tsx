import { useSignal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { type Column, Table } from '../../../design/table.tsx'
import { date, fullDate } from '../../clock.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { useSettled } from '../../parts/settled.ts'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { words } from '../../words.ts'
import { AuditDetails } from './audit-details.tsx'
import { actionName, AuditFilters, NO_FILTERS, queryOf } from './audit-filters.tsx'

type Entry = Data<'listAudit'>['items'][number]

const EVERY_MS = 30_000
const TYPING_MS = 400

/** Every write of an operator, and every look at a pilgrim, with filters. */
export function AuditLog({ tokens }: { readonly tokens: Resource<Data<'listTokens'>> }) {
  const typed = useSignal(NO_FILTERS)
  const current = typed.value
  const filters = useSettled(current, TYPING_MS)
  return (
    <PagedList
      title={words.value.house.audit}
      kind="audit"
      query={queryOf(filters)}
      read={client.listAudit}
      everyMs={EVERY_MS}
      lead={
        <AuditFilters
          filters={current}
          onChange={(next) => (typed.value = next)}
          tokens={tokens.value.value}
        />
      }
    >
      {({ items }) => (
        <Table
          caption={words.value.house.audit}
          titled
          columns={columns()}
          rows={items}
          keyOf={({ id }) => id}
          empty={words.value.common.none}
        />
      )}
    </PagedList>
  )
}

function columns(): Column<Entry>[] {
  const said = words.value.house
  return [
    { name: words.value.reports.when, cell: ({ at }) => <time title={fullDate(at)}>{date(at)}</time> },
    { name: said.action, cell: ({ action }) => <span title={action}>{actionName(action)}</span> },
    {
      name: said.who,
      cell: ({ token_name, role }) => (
        <>
          {role === 'pilgrim' ? said.pilgrimSelf : token_name}{' '}
          <span class="small quiet">{role === 'pilgrim' ? null : words.value.roles[role]}</span>
        </>
      ),
    },
    { name: said.details, cell: (entry) => <AuditDetails entry={entry} /> },
  ]
}
