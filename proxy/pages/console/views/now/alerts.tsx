import type { Data } from '#shared/client/index.ts'
import { clock, date } from '../../clock.ts'
import { incident } from '../../live.ts'
import { isStale, Panel, PanelFrom, Stamp } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { consoleLanguage, fill, words } from '../../words.ts'
import type { Condition } from './figure-tiles.tsx'
import { BackupAge, isBackupOld } from './parts.tsx'
import { ReportsAndSilent } from './reports-and-silent.tsx'

interface Props {
  readonly condition: Resource<Condition>
  readonly hour: Resource<Data<'readLastHour'>>
}

/** What is wrong, and what to do about it; then what waits for people. */
export function Alerts({ condition, hour }: Props) {
  const said = words.value.now
  const value = condition.value.value
  const bad = value !== null && value.causes.length > 0
  if (!bad && (condition.error.value === null || (value !== null && condition.error.value.status === 429)))
    return (
      <Panel
        title={said.alerts}
        kind="alerts calm"
        stale={isStale(condition)}
        stamp={<Stamp at={condition.at.value} stale={isStale(condition)} />}
      >
        <Calm condition={value} />
        <ReportsAndSilent hour={hour} />
      </Panel>
    )
  return (
    <PanelFrom title={said.alerts} kind="alerts" from={condition}>
      {({ causes, incident: stored }) => (
        <>
          <Since incident={incident.value ?? stored} />
          <ul class="rows">
            {causes.map((cause) => (
              <Cause key={cause.text.en} cause={cause} />
            ))}
          </ul>
          <ReportsAndSilent hour={hour} />
        </>
      )}
    </PanelFrom>
  )
}

/** No cause is known. A backup that is missing or old is none, and yet is not well. */
function Calm({ condition }: { readonly condition: Condition | null }) {
  if (condition === null) return <p class="calm-line">{words.value.common.loading}</p>
  const old = isBackupOld(condition.backup_at)
  return (
    <>
      {old ? (
        <p>
          <BackupAge at={condition.backup_at} />
        </p>
      ) : null}
      {condition.alerting.channel === null ? <p class="warn-text">{words.value.now.nobodyAlerted}</p> : null}
      <p class="calm-line">{old ? words.value.now.noOtherAlerts : words.value.now.noAlerts}</p>
    </>
  )
}

const Cause = ({ cause }: { readonly cause: Condition['causes'][number] }) => (
  <li class={cause.failure ? 'cause danger' : 'cause warning'}>
    <span class={`badge ${cause.failure ? 'danger' : 'warning'}`}>
      {cause.failure ? words.value.now.failure : words.value.now.warning}
    </span>
    <div class="grow">
      <strong>{cause.text[consoleLanguage.value]}</strong>
      <p class="small">
        <span class="quiet">{words.value.now.todo}: </span>
        {cause.what_to_do[consoleLanguage.value]}
      </p>
    </div>
  </li>
)

const Since = ({ incident: opened }: { readonly incident: Condition['incident'] }) =>
  opened === null ? null : (
    <p class="small quiet" title={date(opened.opened_at)}>
      {fill(words.value.now.incident, { time: clock(opened.opened_at), count: opened.alerts })}
    </p>
  )
