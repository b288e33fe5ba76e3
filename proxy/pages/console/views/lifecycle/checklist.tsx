/** What is still to be set up before the event, one row each. A row may be postponed. */
import type { Data } from '#shared/client/index.ts'
import { signal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { remember, remembered } from '../../../frame/storage.ts'
import { type EventSettings as Settings, isUnset, useEventSettings } from '../../event.ts'
import { Panel, useStale } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { show } from '../../router.ts'
import { reachesNobody } from '../../sos-reach.ts'
import { words } from '../../words.ts'

const ROWS = [
  'name',
  'dates',
  'contact',
  'notice',
  'survey',
  'route',
  'line',
  'alerts',
  'backup',
  'trial',
] as const
type Row = (typeof ROWS)[number]

type Condition = Data<'readCondition'>

/** Where a row is set up; the others are set up outside the console. */
const PLACES: Partial<Readonly<Record<Row, () => void>>> = {
  name: () => show('lifecycle', { panel: 'event-name' }),
  dates: () => show('lifecycle', { panel: 'event-name' }),
  contact: () => show('lifecycle', { panel: 'event-contact' }),
  notice: () => show('lifecycle', { panel: 'event-notice' }),
  survey: () => show('lifecycle', { panel: 'event-survey' }),
  route: () => show('lifecycle', { panel: 'event-route' }),
  alerts: () => show('system', { panel: 'alerting' }),
  backup: () => show('system', { panel: 'alerting' }),
}

function isDone(
  row: Row,
  { name, contact, notice, survey, route }: Settings,
  { alerting, backup_at, ledger }: Condition,
): boolean {
  switch (row) {
    case 'name':
      return name.version > 0
    case 'dates':
      return name.value.starts_at !== null && name.value.ends_at !== null
    case 'contact':
      return contact.version > 0
    case 'notice':
      return notice.value.organiser !== null && notice.value.contact !== null
    case 'survey':
      return survey.version > 0
    case 'route':
      return route.value.lines.length > 0
    case 'line':
      return alerting.line
    case 'alerts':
      return alerting.channel !== null && !reachesNobody(alerting)
    case 'backup':
      return backup_at !== null
    case 'trial':
      return (ledger?.received ?? 0) > 0
  }
}

const LATER = 'checklist-later'
/** Rows postponed on this device, which Now does not show. */
const later = signal<ReadonlySet<string>>(new Set((remembered(LATER) ?? '').split(' ')))

function putOff(row: Row): void {
  later.value = new Set([...later.value, row])
  remember(LATER, [...later.value].join(' '))
}

interface ChecklistProps {
  readonly settings: Resource<Settings>
  readonly condition: Resource<Condition>
  /** Whether to list postponed rows as well. */
  readonly whole?: boolean
}

/** Open rows, for the view Now. */
export const ChecklistOnNow = ({ condition }: Pick<ChecklistProps, 'condition'>) => (
  <Checklist settings={useEventSettings()} condition={condition} />
)

/** Renders nothing once every row is done. */
export function Checklist({ settings, condition, whole = false }: ChecklistProps) {
  const known = settings.value.value
  const state = condition.value.value
  const isSettingsOld = useStale(settings)
  const isConditionOld = useStale(condition)
  if (known === null || state === null) return null
  const open = ROWS.filter((row) => !isDone(row, known, state))
  const listed = whole ? ROWS : ROWS.filter((row) => open.includes(row) && !later.value.has(row))
  if (open.length === 0 || listed.length === 0) return null
  const messages = words.value.checklist
  return (
    <Panel
      title={isUnset.value ? messages.titleNotStarted : messages.title}
      kind="checklist"
      stale={isSettingsOld || isConditionOld}
      at={condition.at.value}
    >
      <ul class="rows">
        {listed.map((row) => (
          <ChecklistRow key={row} row={row} done={!open.includes(row)} />
        ))}
      </ul>
    </Panel>
  )
}

function ChecklistRow({ row, done }: { readonly row: Row; readonly done: boolean }) {
  const messages = words.value.checklist
  const go = PLACES[row]
  const { name, missing } = messages.rows[row]
  return (
    <li class={done ? 'quiet' : undefined}>
      <span aria-hidden="true">{done ? '✓' : '○'}</span>
      <strong>{name}</strong>
      <span class="grow small">{done ? messages.done : missing}</span>
      {done || go === undefined ? null : <Button onClick={go}>{messages.set}</Button>}
      {done || later.value.has(row) ? null : (
        <Button kind="plain" onClick={() => putOff(row)}>
          {messages.later}
        </Button>
      )}
    </li>
  )
}
