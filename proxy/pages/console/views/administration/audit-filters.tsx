import type { Data, Input } from '#shared/client/index.ts'
import { dayOf, instantOf, now } from '../../clock.ts'
import { words } from '../../words.ts'

type Action = keyof ReturnType<typeof actionNames>
type Period = keyof ReturnType<typeof periodNames>

const actionNames = () => words.value.house.actions
const periodNames = () => words.value.house.periods

export interface Filters {
  readonly action: string
  readonly token_name: string
  readonly search: string
  readonly period: Period
  /** Of the period `between`: local times of the event, such as `2026-04-12T06:00`. */
  readonly since: string
  readonly until: string
}

export const NO_FILTERS: Filters = {
  action: '',
  token_name: '',
  search: '',
  period: 'all',
  since: '',
  until: '',
}

const DAY_MS = 86_400_000
const PAGE = 30

/** Midnight of today or of another day, in the event's zone. */
const midnight = (daysAgo: number): string => `${dayOf(now.peek() - daysAgo * DAY_MS)}T00:00`

function timesOf({ period, since, until }: Filters): readonly [since: string, until: string] {
  if (period === 'today') return [midnight(0), '']
  if (period === 'yesterday') return [midnight(1), midnight(0)]
  if (period === 'week') return [midnight(6), '']
  return period === 'between' ? [since, until] : ['', '']
}

export function queryOf(filters: Filters): Input<'listAudit'> {
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

/** What an action is called; a new release may know more of them. */
export const actionName = (action: string): string =>
  Object.hasOwn(actionNames(), action) ? actionNames()[action as Action] : action

interface Props {
  readonly filters: Filters
  readonly onChange: (filters: Filters) => void
  /** Those in use; null until they are known. */
  readonly tokens: Data<'listTokens'> | null
}

export function AuditFilters({ filters, onChange, tokens }: Props) {
  const said = words.value.house
  const change = (fields: Partial<Filters>) => onChange({ ...filters, ...fields })
  return (
    <div class="row filters">
      <Choice
        label={said.action}
        names={{ '': words.value.common.all, ...actionNames() }}
        value={filters.action}
        onChoose={(action) => change({ action })}
      />
      <Choice
        label={said.period}
        names={periodNames()}
        value={filters.period}
        onChoose={(period) => change({ period })}
      />
      {filters.period === 'between' ? (
        <>
          <Time label={said.since} value={filters.since} onInput={(since) => change({ since })} />
          <Time label={said.until} value={filters.until} onInput={(until) => change({ until })} />
        </>
      ) : null}
      <TokenName
        tokens={tokens}
        value={filters.token_name}
        onInput={(token_name) => change({ token_name })}
      />
      <label class="field">
        <span>{said.details}</span>
        <input
          type="search"
          maxLength={128}
          placeholder={said.detailsHint}
          value={filters.search}
          onInput={(event) => change({ search: event.currentTarget.value })}
        />
      </label>
    </div>
  )
}

interface ChoiceProps<T extends string> {
  readonly label: string
  readonly names: Readonly<Record<T, string>>
  readonly value: string
  readonly onChoose: (value: T) => void
}

const Choice = <T extends string>({ label, names, value, onChoose }: ChoiceProps<T>) => (
  <label class="field">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
      {Object.entries<string>(names).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
)

interface TextProps {
  readonly value: string
  readonly onInput: (value: string) => void
}

const Time = ({ label, value, onInput }: TextProps & { readonly label: string }) => (
  <label class="field">
    <span>{label}</span>
    <input type="datetime-local" value={value} onInput={(event) => onInput(event.currentTarget.value)} />
  </label>
)

/** A name of a token: those in use are offered, and one that is gone can be typed. */
function TokenName({ value, onInput, tokens }: TextProps & Pick<Props, 'tokens'>) {
  return (
    <label class="field">
      <span>{words.value.house.who}</span>
      <input
        type="search"
        list="token-names"
        maxLength={64}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      <datalist id="token-names">
        {tokens?.items.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </label>
  )
}
