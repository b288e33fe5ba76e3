/** Whether all is well: one line, or a row for each problem with what to do about it; and the parts of the service. */
import { clock, date } from '../../clock.ts'
import { incident } from '../../live.ts'
import { isStale, Panel, PanelFrom, Stamp } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { consoleLanguage, words } from '../../words.ts'
import type { Condition } from './figure-tiles.tsx'
import { BackupAge, isBackupOld, Parts } from './parts.tsx'

export function Alerts({ condition }: { readonly condition: Resource<Condition> }) {
  const said = words.value.now
  const value = condition.value.value
  const { error } = condition
  const isCalm = (value?.causes.length ?? 0) === 0
  if (isCalm && (error.value === null || (value !== null && error.value.status === 429)))
    return (
      <Panel
        title={said.alerts}
        kind="alerts calm"
        stale={isStale(condition)}
        stamp={<Stamp at={condition.at.value} stale={isStale(condition)} />}
      >
        {value === null ? (
          <p class="calm-line">{words.value.common.loading}</p>
        ) : (
          <>
            {isNeglected(value) ? <Neglected condition={value} /> : <p class="calm-line">{said.noAlerts}</p>}
            <Parts parts={value.parts} />
          </>
        )}
      </Panel>
    )
  return (
    <PanelFrom title={said.alerts} kind="alerts" from={condition}>
      {(known) => (
        <>
          <Since incident={incident.value ?? known.incident} />
          <ul class="rows">
            {known.causes.map((cause) => (
              <Cause key={cause.text.en} cause={cause} />
            ))}
          </ul>
          {isNeglected(known) ? <Neglected condition={known} /> : null}
          <Parts parts={known.parts} />
        </>
      )}
    </PanelFrom>
  )
}

const isNeglected = ({ backup_at, alerting }: Condition): boolean =>
  isBackupOld(backup_at) || alerting.channel === null

/** What is no fault, and yet is not well; it leads to what to do. */
const Neglected = ({ condition: { backup_at, alerting } }: { readonly condition: Condition }) => (
  <a class="warn-text" href="#/system">
    {isBackupOld(backup_at) ? <BackupAge at={backup_at} /> : null}
    {isBackupOld(backup_at) && alerting.channel === null ? ' · ' : null}
    {alerting.channel === null ? words.value.now.nobodyAlerted : null}
  </a>
)

const Cause = ({ cause }: { readonly cause: Condition['causes'][number] }) => (
  <li class={cause.failure ? 'cause danger' : 'cause warning'}>
    <span class={`badge ${cause.failure ? 'danger' : 'warning'}`}>
      {cause.failure ? words.value.now.failure : words.value.now.warning}
    </span>
    <strong class="grow">{cause.text[consoleLanguage.value]}</strong>
    <span class="grow small">{cause.what_to_do[consoleLanguage.value]}</span>
  </li>
)

const Since = ({ incident: opened }: { readonly incident: Condition['incident'] }) =>
  opened === null ? null : (
    <p class="small quiet" title={date(opened.opened_at)}>
      {`${words.value.lifecycle.since} ${clock(opened.opened_at)} · ${words.value.now.alerted(opened.alerts)}`}
    </p>
  )
