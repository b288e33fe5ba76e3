import type { Data } from '#shared/client/index.ts'
import { clock, date, number } from '../../clock.ts'
import { incident } from '../../live.ts'
import { isStale, Panel, PanelFrom, Stamp } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { consoleLanguage, fill, words } from '../../words.ts'
import type { Condition } from './figure-tiles.tsx'
import { BackupAge, isBackupOld } from './parts.tsx'
import { SILENT_HOURS } from '#shared/rules/silence.ts'
import { Button } from '../../../design/button.tsx'
import { show } from '../../router.ts'
import { client } from '../../session.ts'
import { countsOf } from '../feedback/items.ts'

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
        <span class="quiet">{words.value.now.todo} </span>
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

const REPORTS_MS = 60_000

const useNewReports = (category?: 'safety'): number | null => {
  const reports = useResource(
    (signal) => client.listFeedback({ limit: 1, ...(category ? { category } : {}) }, { signal }),
    REPORTS_MS,
    `new reports ${category ?? ''}`,
  )
  const page = reports.value.value
  return page === null ? null : (countsOf(page)?.new ?? null)
}

/** What no part of the service can put right: reports that nobody has looked at, and pilgrims who are not heard of. */
function ReportsAndSilent({ hour }: { readonly hour: Resource<Data<'readLastHour'>> }) {
  const said = words.value.now
  const reports = useNewReports()
  const safety = useNewReports('safety')
  const silent = hour.value.value?.walking?.silent ?? null
  return (
    <ul class="matters small">
      {reports === null ? null : (
        <li>
          <span class={reports > 0 ? 'warn-text' : undefined}>
            {fill(said.newReports, { count: number(reports) })}
            {safety === null || safety === 0 ? null : ` ${fill(said.ofSafety, { count: number(safety) })}`}
          </span>
          {reports === 0 ? null : (
            <Button kind="plain" onClick={() => show('feedback')}>
              {said.showReports}
            </Button>
          )}
        </li>
      )}
      {silent === null ? null : (
        <li>
          <span>{fill(said.silent, { count: number(silent), hours: SILENT_HOURS })}</span>
          {silent === 0 ? null : (
            <Button kind="plain" onClick={() => show('people', { silentHours: SILENT_HOURS })}>
              {said.showSilent}
            </Button>
          )}
        </li>
      )}
    </ul>
  )
}
