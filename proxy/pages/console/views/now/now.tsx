/** The current state: the crowd, the rates, and problems. */
import { OLD_BACKUP_MS } from '#shared/core/rules/backup-age.ts'
import type { Data, EventRoute } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { pageWords } from '../../../frame/language.ts'
import { ago, clock, date, minute, now, short } from '../../clock.ts'
import { incident, status } from '../../live.ts'
import { route, stationName } from '../../map/ground.ts'
import { ProcessionRows } from '../../map/place-words.tsx'
import { LastHour } from '../../navigation-counts.ts'
import { Figure, Figures, Panel, PanelFrom, isLoading, isStale } from '../../parts/panel.tsx'
import { type Resource, useResource } from '../../resource.ts'
import { MANAGER, OWNER, client, level } from '../../session.ts'
import { reachesNobody } from '../../sos-reach.ts'
import { consoleLanguage, pair, words, units } from '../../words.ts'
import { ChecklistOnNow } from '../lifecycle/checklist.tsx'
import { countsOf } from '../feedback/items.ts'
import { MapPanel, type Overview, useEventMap } from './map-panel.tsx'
import { Rates } from './rates.tsx'
import { useContext } from 'preact/hooks'

const CONDITION_MS = 10_000
const SAFETY_MS = 60_000

export function Now() {
  const map = useEventMap()
  const hour = useContext(LastHour)!
  const safety = useResource(client.listFeedback, SAFETY_MS, 'safety', { limit: 1, category: 'safety' })
  const shared = { map, hour, safety }
  return (
    <div class="view now">
      {level.value >= MANAGER ? (
        <Operating {...shared} />
      ) : (
        <>
          <Crowd map={map} />
          <FigureTiles condition={null} {...shared} />
        </>
      )}
    </div>
  )
}

type Shared = Omit<Parameters<typeof FigureTiles>[0], 'condition'>

/** For managers and owners. On a phone the panels keep this order. */
function Operating(shared: Shared) {
  const condition = useResource(client.readCondition, CONDITION_MS, 'condition')
  return (
    <>
      <Alerts condition={condition} />
      {level.value < OWNER || status.value?.status === 'ended' ? null : (
        <ChecklistOnNow condition={condition} />
      )}
      <Crowd map={shared.map} />
      <FigureTiles condition={condition} {...shared} />
      <Rates />
    </>
  )
}

const Crowd = ({ map }: Pick<Shared, 'map'>) => (
  <div class="crowd-column">
    <MapPanel map={map} />
    <Procession map={map} />
  </div>
)

// System state: one line if all is well, otherwise a row per problem with advice; and the parts of the
// service.

function Alerts({ condition }: { readonly condition: Resource<Condition> }) {
  const messages = words.value.now
  const value = condition.value.value
  const error = condition.error.value
  const isCalm =
    (value?.causes.length ?? 0) === 0 && (error === null || (value !== null && error.status === 429))
  return (
    <PanelFrom title={messages.alerts} kind={isCalm ? 'alerts calm' : 'alerts'} from={condition}>
      {(known) => (
        <>
          {isCalm ? (
            isNeglected(known) ? null : (
              <p class="calm-line">{messages.noAlerts}</p>
            )
          ) : (
            <>
              <Since incident={incident.value ?? known.incident} />
              <ul class="rows">
                {known.causes.map((cause) => (
                  <Cause key={cause.text.en} cause={cause} />
                ))}
              </ul>
            </>
          )}
          {isNeglected(known) ? <Neglected condition={known} /> : null}
          <Parts parts={known.parts} />
        </>
      )}
    </PanelFrom>
  )
}

const isNeglected = (condition: Condition): boolean =>
  isBackupOld(condition) || condition.alerting.channel === null || reachesNobody(condition.alerting)

/** Neglected maintenance: not a fault, but it needs action. Linked to what to do. */
function Neglected({ condition }: { readonly condition: Condition }) {
  const isOld = isBackupOld(condition)
  const isUnheard = condition.alerting.channel === null
  return (
    <>
      {reachesNobody(condition.alerting) ? (
        <a class="warn-text strong" href="#/system">
          {words.value.alerting.sosNobody}
        </a>
      ) : null}
      {isOld || isUnheard ? (
        <a class="warn-text" href="#/system">
          {isOld ? <BackupAge condition={condition} /> : null}
          {isOld && isUnheard ? ' · ' : null}
          {isUnheard ? words.value.now.nobodyAlerted : null}
        </a>
      ) : null}
    </>
  )
}

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

type Part = Condition['parts'][number]

const TONES = {
  ok: 'good',
  degraded: 'warning',
  error: 'danger',
  silent: 'danger',
  unknown: 'warning',
} as const

function Parts({ parts }: Pick<Condition, 'parts'>) {
  const bad = parts.filter(({ state }) => state !== 'ok')
  return (
    <div class="parts small">
      {bad.length === 0 ? null : <PartList parts={bad} />}
      <span class="quiet">{words.value.now.partsOk(parts.length - bad.length)}</span>
    </div>
  )
}

export const PartList = ({ parts }: Pick<Condition, 'parts'>) => (
  <ul class="part-list">
    {parts.map((part) => (
      <PartRow key={part.name} part={part} />
    ))}
  </ul>
)

const PartRow = ({ part: { name, state, seen_at, processes } }: { readonly part: Part }) => (
  <li class={TONES[state]}>
    <span class="dot" aria-hidden="true" />
    <span class="grow">{words.value.now.partNames[name]}</span>
    <span class="small state">{words.value.now.partStates[state]}</span>
    {state === 'degraded' && processes !== null ? (
      <span class="small quiet">
        {processes.running} / {processes.running + processes.silent} {words.value.now.processes}
      </span>
    ) : null}
    {state === 'silent' && seen_at !== null ? <span class="small quiet">{ago(seen_at)}</span> : null}
  </li>
)

type Backups = Pick<Condition, 'backup_at' | 'backups'>

/** Whether there is no backup or it is too old. */
export function isBackupOld(known: Backups): boolean {
  const at = known.backup_at
  const oldMs = known.backups === null ? OLD_BACKUP_MS : 2 * known.backups.every_hours * 3_600_000
  return at === null || now.value - Date.parse(at) > oldMs
}

export function BackupAge({ condition }: { readonly condition: Backups }) {
  const at = condition.backup_at
  return (
    <span class={isBackupOld(condition) ? 'warn-text' : undefined} title={at === null ? undefined : date(at)}>
      {pair(words.value.now.backup, at === null ? words.value.common.never : ago(at))}
    </span>
  )
}

export type Condition = Data<'readCondition'>

interface Props {
  /** Null for a volunteer, who may not read it. */
  readonly condition: Resource<Condition> | null
  readonly map: Resource<Overview>
  readonly hour: Resource<Data<'readLastHour'>>
  readonly safety: Resource<Data<'listFeedback'>>
}

const FigureTiles = ({ condition, map, hour, safety }: Props) => (
  <Panel title={words.value.now.figures} kind="figures">
    <Figures>
      <HourTiles hour={hour} />
      <LengthTile map={map} />
      <SafetyTile safety={safety} />
      {condition === null ? null : <WaitingTile condition={condition} />}
    </Figures>
  </Panel>
)

/** A flush is due every five minutes; the owner is alerted after thirty. */
const FLUSH_LATE_MS = 10 * 60_000

const isFlushLate = (at: string | null): boolean => at === null || now.value - Date.parse(at) > FLUSH_LATE_MS

/** How many people walked, and have checked in, in the last 60 minutes before the last flush. */
function HourTiles({ hour }: Pick<Props, 'hour'>) {
  const messages = words.value.now
  const walking = hour.value.value?.walking ?? null
  const at = walking?.as_of ?? null
  const time = { at, stale: isStale(hour) || isFlushLate(at), loading: isLoading(hour) }
  return (
    <>
      <Figure label={messages.walking} value={walking && figure(walking.pilgrims)} {...time} />
      <Figure label={messages.checkedIn} value={walking && figure(walking.checked_in)} {...time} />
    </>
  )
}

/** Below this speed the procession is resting. */
const RESTING_KMH = 0.5

function LengthTile({ map }: Pick<Props, 'map'>) {
  const messages = words.value.now
  const value = map.value.value
  const [front, tail] = [value?.front?.route_km ?? null, value?.tail?.route_km ?? null]
  const speed = value?.speed_kmh ?? null
  return (
    <Figure
      label={messages.spread}
      value={front === null || tail === null ? null : figure(front - tail)}
      unit={units.value.km}
      note={[
        ...(front === null || tail === null ? [] : [messages.outliers]),
        ...(speed === null
          ? []
          : [speed < RESTING_KMH ? messages.resting : `${figure(speed)} ${units.value.kmh}`]),
      ].join(' · ')}
      at={value?.as_of ?? null}
      stale={isStale(map) || (value?.stale ?? []).includes('crowd')}
      loading={isLoading(map)}
    />
  )
}

function SafetyTile({ safety }: Pick<Props, 'safety'>) {
  const page = safety.value.value
  const count = page === null ? null : (countsOf(page)?.new ?? null)
  return (
    <Figure
      label={words.value.now.safety}
      value={count === null ? null : <a href="#/feedback">{figure(count)}</a>}
      tone={(count ?? 0) > 0 ? 'danger' : undefined}
      at={safety.at.value}
      stale={isStale(safety)}
      loading={isLoading(safety)}
    />
  )
}

/** Points that are accepted and not stored yet, in the buffer and in journals. */
function WaitingTile({ condition }: { readonly condition: Resource<Condition> }) {
  const messages = words.value.now
  const value = condition.value.value
  const ledger = value?.ledger ?? null
  return (
    <Figure
      label={messages.waiting}
      value={ledger === null ? null : short(ledger.pending + ledger.journaled)}
      note={
        value?.oldest_pending ? pageWords.value.pair(messages.oldest, ago(value.oldest_pending)) : undefined
      }
      tone={value !== null && isFlushLate(value.last_flush) ? 'danger' : undefined}
      at={value?.as_of ?? null}
      stale={isStale(condition) || (value !== null && ledger === null)}
      loading={isLoading(condition)}
    />
  )
}

// Position of the procession: front, middle and tail, and their arrival times at the next stations.

/** Maximum number of stations shown, nearest first. */
const STATIONS = 5

const Procession = ({ map }: { readonly map: Resource<Overview> }) => (
  <PanelFrom title={words.value.now.places} kind="procession" from={map}>
    {(value) =>
      value.front == null ? (
        <p class="quiet">
          {value.event.crowd > 1 ? words.value.now.tooFew(value.event.crowd) : words.value.now.nobody}
        </p>
      ) : (
        <Places map={value} route={route.value} />
      )
    }
  </PanelFrom>
)

function Places({ map, route }: { readonly map: Overview; readonly route: EventRoute | null }) {
  return (
    <>
      <ProcessionRows
        places={{ front: map.front ?? null, middle: map.middle ?? null, tail: map.tail ?? null }}
        absent={words.value.common.unknown}
      />
      <Rule map={map} />
      <Estimates map={map} route={route} />
    </>
  )
}

/**
 * Positions of walking people are younger than this; older ones come from stored points, or no one is
 * walking.
 */
const OLD_MS = 2.5 * 3_600_000

function Rule({ map }: { readonly map: Overview }) {
  const ageMs = Date.parse(map.as_of) - Date.parse(map.seen_since)
  return ageMs > OLD_MS ? (
    <p class="small warn-text">{pair(words.value.now.positionsOld, date(map.seen_since))}</p>
  ) : null
}

const stationAt = (found: EventRoute | null, index: number | null): string | null => {
  const station = index === null ? undefined : found?.stations[index]
  return station === undefined ? null : stationName(station)
}

/** Estimates from the mean of the walk are omitted: they are not exact to the minute. */
function Estimates({ map, route }: { readonly map: Overview; readonly route: EventRoute | null }) {
  const estimates = map.estimates.filter(({ by }) => by !== 'mean')
  return estimates.length === 0 ? null : (
    <>
      <h3>{words.value.now.estimates}</h3>
      <ul class="rows small">
        {estimates.slice(0, STATIONS).map(({ station, front_at, middle_at, by }) => (
          <li key={station}>
            <span class="grow">{stationAt(route, station) ?? station}</span>
            {front_at === null ? null : (
              <span>
                {words.value.now.front} {by === 'speed' ? '~' : ''}
                {minute(front_at)}
              </span>
            )}
            <span>
              {words.value.now.middle} {by === 'speed' ? '~' : ''}
              {minute(middle_at)}
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}
