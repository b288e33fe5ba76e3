/** Pilgrims: a searchable, sortable, paged list, and everything about one of them. */
import { Choice, SearchField } from '../../parts/fields.tsx'
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import { useContext, useEffect } from 'preact/hooks'
import { useSettled } from '../../parts/actions.tsx'
import { place, show } from '../../router.ts'
import { pair, words } from '../../words.ts'
import { Person } from './person.tsx'
import type { Data, Input } from '#shared/client/index.ts'
import { DAY_HOURS, SILENT_HOURS } from '#shared/core/rules/silence.ts'
import { type Column, Table } from '../../../design/table.tsx'
import { ago, duration, fullDate, now } from '../../clock.ts'
import { LastHour, silenceText } from '../../navigation-counts.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { client } from '../../session.ts'

export function People() {
  const typed = useSignal(place.value.search ?? '')
  const search = useSettled(typed.value.trim())
  const asked = place.value.search
  useEffect(() => {
    if (asked !== undefined) typed.value = asked
  }, [asked, typed])
  const { person = null, name = null, silentHours = 0, withLinks = false } = place.value
  const listed = { search, silentHours, withLinks }
  useEffect(() => {
    // On a narrow screen the pilgrim replaces the list, and the row that had the focus.
    if (document.querySelector('.people-list')?.checkVisibility() === false)
      document.querySelector<HTMLElement>('.person')?.focus()
  }, [person])
  return (
    <div class={person === null ? 'view people' : 'view people chosen'}>
      <PeopleList
        typed={typed.value}
        onType={(value) => (typed.value = value)}
        search={search}
        silentHours={silentHours}
        withLinks={withLinks}
        onChosen={(chosen) => show('people', { ...place.value, ...chosen })}
        onChoose={(userId, of) => show('people', { ...listed, person: userId, name: of })}
      />
      {person === null ? null : (
        <Person key={person} userId={person} name={name} onBack={() => show('people', listed)} />
      )}
    </div>
  )
}

type Row = Data<'listUsers'>['items'][number]
const SORTS = ['km', 'checkins', 'last_seen'] as const
type Sort = (typeof SORTS)[number]

const EVERY_MS = 20_000
const PAGE = 50

interface Props {
  readonly typed: string
  readonly onType: (text: string) => void
  readonly search: string
  /** Only pilgrims silent for this many hours; 0: everyone. */
  readonly silentHours: number
  readonly withLinks: boolean
  readonly onChosen: (chosen: { readonly silentHours: number; readonly withLinks: boolean }) => void
  readonly onChoose: (userId: string, name: string | null) => void
}

function PeopleList(props: Props) {
  const { typed, onType, silentHours, search } = props
  const counted = useContext(LastHour)!.value.value?.walking?.silent ?? null
  const sort = useSignal<Sort>('last_seen')
  const descending = useSignal(true)
  // Silent pilgrims are sorted by the time of their last point.
  const order = silentHours > 0 ? 'last_seen' : sort.value
  const sortBy = (by: string) => {
    descending.value = order === by ? !descending.value : true
    sort.value = SORTS.find((name) => name === by) ?? 'last_seen'
  }
  return (
    <PagedList
      title={words.value.nav.people}
      kind="people-list"
      query={queryOf(props, order, descending.value)}
      read={client.listUsers}
      everyMs={EVERY_MS}
      // For other lists the service reports no number before their last page.
      totalOf={({ next_cursor: next }) =>
        next !== null && silentHours === SILENT_HOURS && search === '' ? counted : null
      }
      actions={
        <>
          <Filter {...props} />
          <SearchField
            class="people-search"
            label={words.value.people.searchLabel}
            value={typed}
            onType={onType}
          />
        </>
      }
    >
      {({ items, pending }) => (
        <>
          {pending === null ? <p class="warn-text small">{words.value.people.pendingUnknown}</p> : null}
          <Table
            caption={words.value.nav.people}
            titled
            columns={silentHours > 0 ? columnsOf(props).map(onlyBySeen) : columnsOf(props)}
            rows={items}
            keyOf={({ userId }) => userId}
            sorted={{ by: order, descending: descending.value }}
            onSort={sortBy}
            empty={emptyText(props)}
          />
        </>
      )}
    </PagedList>
  )
}

const queryOf = (
  { search, silentHours, withLinks }: Props,
  sort: Sort,
  descending: boolean,
): Input<'listUsers'> => ({
  sort,
  order: descending ? 'desc' : 'asc',
  limit: PAGE,
  ...(silentHours > 0 ? { silent_hours: silentHours } : {}),
  ...(withLinks ? { with_links: 'true' } : {}),
  ...(search === '' ? {} : { search }),
})

const onlyBySeen = ({ sort, ...column }: Column<Row>): Column<Row> =>
  sort === 'last_seen' ? { ...column, sort } : column

/** Names the filter under which no one was found. */
function emptyText({ silentHours, withLinks }: Props): string {
  const { none } = words.value.common
  const filter = withLinks ? words.value.people.withLinks : silentHours > 0 && silenceText(silentHours)
  return filter ? pair(filter, none) : none
}

const SILENCES = [1, SILENT_HOURS, 6, 12, DAY_HOURS]

const LINKS = 'links'

const Filter = ({ silentHours, withLinks, onChosen }: Props) => (
  <Choice<string | number>
    bare
    label={words.value.people.show}
    value={withLinks ? LINKS : silentHours}
    options={[
      [0, words.value.messages.audiences.all],
      ...SILENCES.map((hours) => [hours, silenceText(hours)] as const),
      [LINKS, words.value.people.withLinks],
    ]}
    onChoose={(chosen) =>
      onChosen({ silentHours: chosen === LINKS ? 0 : Number(chosen), withLinks: chosen === LINKS })
    }
  />
)

/** A value with its label, because a phone shows no table header. */
const named = (value: string | number, name: string) => (
  <>
    <span class="narrow">{name} </span>
    {value}
  </>
)

function columnsOf({ onChoose, silentHours }: Props): Column<Row>[] {
  // Pilgrims counted in the navigation are marked in each list.
  const knownHours = Math.min(silentHours || SILENT_HOURS, SILENT_HOURS)
  const messages = words.value.people
  return [
    { name: messages.columns.name, cell: (row) => <Name row={row} onChoose={onChoose} /> },
    {
      name: messages.columns.seen,
      sort: 'last_seen',
      cell: ({ last_seen }) => (last_seen === null ? '–' : <Seen at={last_seen} />),
    },
    { name: messages.columns.level, number: true, cell: ({ level }) => named(level, messages.columns.level) },
    {
      name: messages.columns.km,
      sort: 'km',
      number: true,
      cell: ({ km }) => (
        <>
          {figure(km)} <span class="narrow">{messages.columns.km}</span>
        </>
      ),
    },
    {
      name: messages.columns.checkins,
      sort: 'checkins',
      number: true,
      cell: ({ checkins }) => named(figure(checkins), messages.columns.checkins),
    },
    {
      name: messages.columns.state,
      cell: ({ participant_status, role, last_seen }) => (
        <>
          {stateText(participant_status, last_seen, knownHours)}
          {role === null ? null : <span class="badge small">{words.value.roles[role]}</span>}
        </>
      ),
    },
  ]
}

/** The state of a participating pilgrim is shown only if they were not seen for a while. */
function stateText(status: Row['participant_status'], lastSeen: string | null, hours: number): string | null {
  const messages = words.value.people
  const elapsedMs = lastSeen === null ? null : now.value - Date.parse(lastSeen)
  if (status !== 'active') return messages.status[status]
  if (elapsedMs !== null && elapsedMs < hours * HOUR_MS) return null
  return elapsedMs === null ? messages.neverSeen : `${messages.silentFor} ${duration(elapsedMs)}`
}

/** A walking phone sends at least this often, unless it has no network. */
const WALKS_MS = 15 * 60_000
const HOUR_MS = 3_600_000

/** Green: seen just now; amber: within a day; grey: earlier. */
function Seen({ at }: { readonly at: string }) {
  const elapsed = now.value - Date.parse(at)
  const tone = elapsed < WALKS_MS ? 'good' : elapsed < DAY_HOURS * HOUR_MS ? 'warning' : undefined
  return (
    <span class={['seen', tone].filter(Boolean).join(' ')}>
      <span class="dot" aria-hidden="true" />
      <time title={fullDate(at)}>{ago(at)}</time>
    </span>
  )
}

const Name = ({ row, onChoose }: { readonly row: Row; readonly onChoose: Props['onChoose'] }) => (
  <button
    type="button"
    class="name-button"
    aria-current={place.value.person === row.userId}
    onClick={() => onChoose(row.userId, row.display_name)}
  >
    <strong>{row.display_name ?? words.value.people.unnamed}</strong>
    <span class="small quiet" title={row.userId}>
      {row.userId}
    </span>
  </button>
)
