import { Choice, Field } from '../../parts/fields.tsx'
import { useSignal } from '@preact/signals'
import type { Data, Input } from '#shared/client/index.ts'
import { type Column, Table } from '../../../design/table.tsx'
import { date, fullDate, dayOf, hourText, instantOf, now } from '../../clock.ts'
import { PagedList } from '../../parts/paged-list.tsx'
import { useSettled } from '../../parts/actions.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { leaderName } from '../../event.ts'
import { nameOf, pair, words, ownName } from '../../words.ts'
import { endOfId, PilgrimLink } from '../../parts/pilgrim-link.tsx'

type Entry = Data<'listAudit'>['items'][number]

const EVERY_MS = 30_000
const TYPING_MS = 400

/** Every write by an operator, and every access to a pilgrim, with filters. */
export function AuditLog({ tokens }: { readonly tokens: Resource<Data<'listTokens'>> }) {
  const typed = useSignal(NO_FILTERS)
  const current = typed.value
  const filters = useSettled(current, TYPING_MS)
  return (
    <PagedList
      title={words.value.system.audit}
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
          caption={words.value.system.audit}
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
  const messages = words.value.system
  return [
    { name: words.value.people.point.at, cell: ({ at }) => <time title={fullDate(at)}>{date(at)}</time> },
    { name: messages.action, cell: (entry) => <span title={entry.action}>{actionName(entry)}</span> },
    {
      name: messages.who,
      cell: ({ token_name, role }) => (
        <>
          {role === 'pilgrim' ? messages.pilgrimSelf : token_name}{' '}
          <span class="small quiet">{role === 'pilgrim' ? null : words.value.roles[role]}</span>
        </>
      ),
    },
    { name: messages.details, cell: (entry) => <AuditDetails entry={entry} /> },
  ]
}

// The details of an audit log entry as text: the pilgrim, and the change.

type Details = Entry['details']

/** The hash that replaces the id of an erased pilgrim. */
const HASH = /^[0-9a-f]{40}$/

function AuditDetails({ entry }: { readonly entry: Entry }) {
  const text = detailsText(entry)
  return (
    <span title={rawText(entry.details)}>
      <Pilgrim entry={entry} /> {text}
    </span>
  )
}

function Pilgrim({ entry: { details, display_name } }: { readonly entry: Entry }) {
  const { user_id: userId, user_hash: hash } = details
  if (typeof hash === 'string' || (typeof userId === 'string' && HASH.test(userId)))
    return <em class="quiet">{words.value.system.erasedPilgrim}</em>
  if (typeof userId !== 'string') return null
  return (
    <>
      <PilgrimLink userId={userId} name={display_name} />
      {/* Two people may have the same name. */}
      {display_name === null ? null : <span class="small quiet"> …{endOfId(userId)}</span>}
    </>
  )
}

/** Translates a value; a newer release may have more values. */
const named = (names: Readonly<Record<string, string>>, value: unknown): string =>
  typeof value === 'string' ? nameOf(names, value) : ''

const quoted = (text: unknown): string =>
  typeof text === 'string' && text !== '' ? words.value.common.quoted(text) : ''

const roleName = (role: unknown): string =>
  role === null ? words.value.people.noRole : named(words.value.roles, role)

const change = (from: string, to: string): string => (from === to ? to : `${from} → ${to}`)

const letter = ({ id }: Details): string => `#${String(id)}`

type DetailText = (details: Details) => readonly string[]

const tokenText: DetailText = ({ name, role }) => [String(name), roleName(role)]

const DETAIL_TEXTS: Readonly<Record<string, DetailText>> = {
  'set-status': ({ message }) => [quoted(message)],
  'set-status-message': ({ message }) => [quoted(message)],
  'end-activity': ({ from }) => [change(named(words.value.bar.status, from), words.value.bar.status.ended)],
  push: ({ audience, recipients, message, forced }) => [
    named(words.value.messages.audiences, audience),
    words.value.system.toSoMany(Number(recipients)),
    quoted(message),
    forced === true ? words.value.system.forced : '',
  ],
  'set-notifications': scheduleText,
  'set-user-status': ({ status }) => [named(words.value.people.status, status)],
  'set-palanquin': ({ palanquin }) => [
    (palanquin === true ? words.value.people.showLeader : words.value.people.hideLeader)(leaderName.value),
  ],
  'set-event': ({ part }) => [String(part)],
  'make-token': tokenText,
  'revoke-token': tokenText,
  'assign-role': ({ role, before }) => [change(roleName(before), roleName(role))],
  'update-feedback': (details) => [
    letter(details),
    change(
      named(words.value.feedback.columns, details.from),
      named(words.value.feedback.columns, details.status),
    ),
    details.note_changed === true ? words.value.system.noteChanged : '',
  ],
  'export-user': ({ format }) => [fileType(format)],
  'export-surveys': ({ format }) => [fileType(format)],
  'erase-user': () => [],
  'replay-dead-letter': (details) => [letter(details), named(words.value.system.outcomes, details.outcome)],
  'drop-dead-letter': (details) => [letter(details)],
  'deploy-richmenu': ({ menus }) => [words.value.system.menusTold(Array.isArray(menus) ? menus.length : 0)],
  reset: ({ state }) => [named(words.value.system.resetStates, state)],
}

const fileType = (format: unknown): string => (typeof format === 'string' ? format.toUpperCase() : '')

/** The details without the pilgrim. For an action unknown to this release, the raw details. */
function detailsText({ action, details }: Entry): string {
  const say = Object.hasOwn(DETAIL_TEXTS, action) ? DETAIL_TEXTS[action] : undefined
  if (say !== undefined)
    return say(details)
      .filter((part) => part !== '')
      .join(' · ')
  const { user_id: _, ...rest } = details
  return rawText(rest)
}

const rawText = (details: Details): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => pair(name, typeof value === 'string' ? value : JSON.stringify(value)))
    .join(', ')

type Period = keyof ReturnType<typeof periodNames>

const actionNames = () => words.value.system.actions
const periodNames = () => words.value.system.periods

interface Filters {
  readonly action: string
  readonly token_name: string
  readonly search: string
  readonly period: Period
  /** For the period `between`: local times of the event, such as `2026-04-12T06:00`. */
  readonly since: string
  readonly until: string
}

const NO_FILTERS: Filters = {
  action: '',
  token_name: '',
  search: '',
  period: 'all',
  since: '',
  until: '',
}

const DAY_MS = 86_400_000
const PAGE = 30

/** Midnight of today or of an earlier day, in the event's zone. */
const midnight = (daysAgo: number): string => `${dayOf(now.peek() - daysAgo * DAY_MS)}T00:00`

function timesOf({ period, since, until }: Filters): readonly [since: string, until: string] {
  if (period === 'today') return [midnight(0), '']
  if (period === 'yesterday') return [midnight(1), midnight(0)]
  if (period === 'week') return [midnight(6), '']
  return period === 'between' ? [since, until] : ['', '']
}

function queryOf(filters: Filters): Input<'listAudit'> {
  const { action, token_name, search } = filters
  const [since, until] = timesOf(filters)
  const given = Object.entries({
    action,
    token_name,
    search,
    since: since && instantOf(since),
    until: until && instantOf(until),
  })
  return { limit: PAGE, ...Object.fromEntries(given.filter(([, text]) => text.trim() !== '')) }
}

/**
 * Name of an action; a newer release may have more of them. Two actions that share a filter have their own
 * names.
 */
const actionName = ({ action, details: { status } }: Entry): string =>
  action === 'set-status' ? named(words.value.system.statusActions, status) : nameOf(actionNames(), action)

interface Props {
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
  readonly tokens: Data<'listTokens'> | null
}

function AuditFilters({ filters, onChange, tokens }: Props) {
  const messages = words.value.system
  const change = (fields: Partial<Filters>) => onChange({ ...filters, ...fields })
  return (
    <details>
      <summary>{messages.filter}</summary>
      <div class="row filters">
        <Choice
          label={messages.action}
          options={[['', words.value.common.all], ...Object.entries(actionNames())]}
          value={filters.action}
          onChoose={(action) => change({ action })}
        />
        <Choice
          label={messages.period}
          options={Object.entries(periodNames()) as [Period, string][]}
          value={filters.period}
          onChoose={(period) => change({ period })}
        />
        {filters.period === 'between' ? (
          <>
            {(['since', 'until'] as const).map((end) => (
              <Field
                key={end}
                label={messages[end]}
                type="datetime-local"
                value={filters[end]}
                onType={(time) => change({ [end]: time })}
              />
            ))}
          </>
        ) : null}
        {/* Current tokens are offered; the name of a removed one can be typed. */}
        <Field
          label={messages.who}
          type="search"
          list="token-names"
          maxLength={64}
          value={filters.token_name}
          onType={(token_name) => change({ token_name })}
        >
          <datalist id="token-names">
            {tokens?.items.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </datalist>
        </Field>
        <Field
          label={messages.details}
          type="search"
          maxLength={128}
          placeholder={words.value.people.searchLabel}
          value={filters.search}
          onType={(search) => change({ search })}
        />
      </div>
    </details>
  )
}

// The text for a change of the schedule.

/** A change as the service writes it; an entry of an older release has only the slots. */
interface Change {
  readonly id: string
  readonly hour: number
  readonly change: 'added' | 'removed' | 'changed'
  readonly fields?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown } | undefined>>
  readonly texts?: Readonly<Record<string, string | null>>
}

interface Slot {
  readonly id: string
  readonly hour: number
  readonly enabled: boolean
}

const turned = (enabled: unknown): string =>
  enabled === true ? words.value.schedule.on : words.value.schedule.off

const daysText = (dates: unknown): string =>
  Array.isArray(dates) ? dates.join(', ') : words.value.schedule.everyDay

const audienceText = (audience: unknown): string => nameOf(words.value.messages.audiences, String(audience))

const FIELDS: Readonly<Record<string, (value: unknown) => string>> = {
  hour: hourText,
  enabled: turned,
  dates: daysText,
  audience: audienceText,
}

function changeText({ hour, change, fields = {}, texts = {} }: Change): string {
  const messages = words.value.system
  const parts = [
    ...Object.entries(FIELDS).flatMap(([name, text]) => {
      const field = fields[name]
      return field === undefined ? [] : [`${text(field.from)} → ${text(field.to)}`]
    }),
    ...Object.entries(texts).map(([language, text]) =>
      pair(ownName(language), text === null ? messages.textTaken : quoted(text)),
    ),
  ]
  const slot = parts.length === 0 ? hourText(hour) : pair(hourText(hour), parts.join(', '))
  return [words.value.messages.causes.notification, messages.slotChanges[change], slot].join(' ')
}

const slotText = ({ id, hour, enabled }: Slot): string => pair(`${hourText(hour)} ${id}`, turned(enabled))

/** What was added, removed and changed; for an older entry, the resulting schedule. */
function scheduleText({ slots, changes }: Readonly<Record<string, unknown>>): readonly string[] {
  if (Array.isArray(changes)) return (changes as readonly Change[]).map(changeText)
  return Array.isArray(slots) ? (slots as readonly Slot[]).map(slotText) : []
}
