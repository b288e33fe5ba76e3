/** The five figures of now. */
import { figure } from '#shared/locales/units.ts'
import { pageWords } from '../../../frame/page-words.ts'
import type { Data } from '#shared/client/index.ts'
import { ago, now, short } from '../../clock.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { isLoading, isStale, Panel } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { words } from '../../words.ts'
import { countsOf } from '../feedback/items.ts'
import type { Overview } from './map-panel.tsx'

export type Condition = Data<'readCondition'>

interface Props {
  /** Null for a volunteer, who may not read it. */
  readonly condition: Resource<Condition> | null
  readonly map: Resource<Overview>
  readonly hour: Resource<Data<'readLastHour'>>
  /** Reports about safety. */
  readonly safety: Resource<Data<'listFeedback'>>
}

export const FigureTiles = ({ condition, map, hour, safety }: Props) => (
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

/** How many people walk, and have checked in, in the last 60 minutes before the last flush. */
function HourTiles({ hour }: Pick<Props, 'hour'>) {
  const said = words.value.now
  const walking = hour.value.value?.walking ?? null
  const at = walking?.as_of ?? null
  const time = { at, stale: isStale(hour) || isFlushLate(at), loading: isLoading(hour) }
  return (
    <>
      <Figure label={said.walking} value={walking && figure(walking.pilgrims)} {...time} />
      <Figure label={said.checkedIn} value={walking && figure(walking.checked_in)} {...time} />
    </>
  )
}

function LengthTile({ map }: Pick<Props, 'map'>) {
  const value = map.value.value
  const [front, tail] = [value?.front?.route_km ?? null, value?.tail?.route_km ?? null]
  return (
    <Figure
      label={words.value.now.spread}
      value={front === null || tail === null ? null : figure(front - tail)}
      unit="km"
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
  const said = words.value.now
  const value = condition.value.value
  const ledger = value?.ledger ?? null
  return (
    <Figure
      label={said.waiting}
      value={ledger === null ? null : short(ledger.pending + ledger.journaled)}
      note={value?.oldest_pending ? pageWords.value.pair(said.oldest, ago(value.oldest_pending)) : undefined}
      tone={value !== null && isFlushLate(value.last_flush) ? 'danger' : undefined}
      at={value?.as_of ?? null}
      stale={isStale(condition) || (value !== null && ledger === null)}
      loading={isLoading(condition)}
    />
  )
}
