import type { Data } from '#shared/client/index.ts'
import { ago, minute, now, number, oneDigit, short } from '../../clock.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { isLoading, isStale, Panel } from '../../parts/panel.tsx'
import { connection } from '../../live.ts'
import { lastMinute } from '../../rates.ts'
import type { Resource } from '../../resource.ts'
import { fill, words } from '../../words.ts'
import type { Overview } from './event-map.ts'
import { FlushNow } from './flush-now.tsx'

export type Condition = Data<'readCondition'>

interface Props {
  /** Null for a volunteer, who may not read it. */
  readonly condition: Resource<Condition> | null
  readonly map: Resource<Overview>
  readonly active: Resource<Data<'readClusters'>>
  readonly usage: Resource<Data<'readLineUsage'>>
}

export const FigureTiles = ({ condition, map, active, usage }: Props) => (
  <Panel
    title={words.value.now.figures}
    kind="figures"
    actions={condition === null ? undefined : <FlushNow />}
  >
    <Figures>
      <ActiveTile active={active} />
      <CrowdTiles map={map} />
      {condition === null ? null : <RateTiles />}
      {condition === null ? null : <StoreTiles condition={condition} />}
      <QuotaTile usage={usage} />
    </Figures>
  </Panel>
)

/** Pilgrims whose latest point was in this hour or the hour before. */
function ActiveTile({ active }: Pick<Props, 'active'>) {
  const said = words.value.now
  const value = active.value.value
  const asOf = value?.as_of ?? null
  const since = value?.since ?? null
  return (
    <Figure
      label={since === null ? said.active : fill(said.activeSince, { time: minute(since) })}
      value={value && number(value.features.reduce((sum, { properties: { users } }) => sum + users, 0))}
      at={asOf}
      stale={isStale(active) || toneOfFlush(asOf) !== 'good'}
      loading={isLoading(active)}
    />
  )
}

function RateTiles() {
  const said = words.value.now
  const rate = lastMinute(now.value)
  const stale = connection.value !== 'live'
  const shown = (value: number | undefined) => (value === undefined ? null : short(value))
  const state = { at: rate && now.value, stale, loading: !stale }
  return (
    <>
      <Figure label={said.checkins} value={shown(rate?.checkins)} {...state} />
      <Figure label={said.points} value={shown(rate?.points)} {...state} />
    </>
  )
}

function CrowdTiles({ map }: Pick<Props, 'map'>) {
  const said = words.value.now
  const value = map.value.value
  const stale = isStale(map) || (value?.stale ?? []).length > 0
  const state = { stale, loading: isLoading(map) }
  return (
    <>
      <Figure
        label={said.pilgrims}
        value={value?.on_map === undefined ? null : number(value.on_map)}
        at={value?.as_of ?? null}
        {...state}
      />
      <Figure
        label={said.km}
        value={value?.totals ? short(value.totals.km) : null}
        unit="km"
        at={value?.totals?.as_of ?? null}
        {...state}
      />
    </>
  )
}

/** A flush is due every five minutes; the owner is alerted after thirty. */
const FLUSH_LATE_MS = 10 * 60_000
const FLUSH_ALERT_MS = 30 * 60_000

function toneOfFlush(at: string | null): 'good' | 'warning' | 'danger' {
  const ageMs = at === null ? Infinity : now.value - Date.parse(at)
  return ageMs > FLUSH_ALERT_MS ? 'danger' : ageMs > FLUSH_LATE_MS ? 'warning' : 'good'
}

function StoreTiles({ condition }: { readonly condition: Resource<Condition> }) {
  const said = words.value.now
  const value = condition.value.value
  const ledger = value?.ledger ?? null
  const time = {
    at: value?.as_of ?? null,
    stale: isStale(condition) || (value !== null && ledger === null),
    loading: isLoading(condition),
  }
  const count = (figure: number | undefined) => (figure === undefined ? null : short(figure))
  const bad = (figure: number | undefined) => ((figure ?? 0) > 0 ? ('danger' as const) : undefined)
  const flush = value?.last_flush ?? null
  return (
    <>
      <Figure
        label={said.flush}
        value={flush === null ? null : <span class="age">{ago(flush)}</span>}
        tone={value === null ? undefined : toneOfFlush(flush)}
        {...time}
      />
      <Figure
        label={said.buffer}
        value={count(ledger?.pending)}
        note={value?.oldest_pending ? `${said.oldest}: ${ago(value.oldest_pending)}` : undefined}
        {...time}
      />
      <Figure label={said.journals} value={count(ledger?.journaled)} {...time} />
      <Figure label={said.stored} value={count(ledger?.stored)} {...time} />
      <Figure
        label={said.deadLetters}
        value={count(ledger?.dead_letter)}
        tone={bad(ledger?.dead_letter)}
        {...time}
      />
      <Figure label={said.lost} value={count(ledger?.lost)} tone={bad(ledger?.lost)} {...time} />
    </>
  )
}

function QuotaTile({ usage }: Pick<Props, 'usage'>) {
  const said = words.value.now
  const value = usage.value.value
  const time = { at: usage.at.value, stale: isStale(usage), loading: isLoading(usage) }
  if (value !== null && !value.configured)
    return <Figure label={said.quota} value={null} note={said.notConfigured} {...time} />
  const unlimited = value?.quota.type === 'none'
  return (
    <Figure
      label={said.quota}
      value={
        unlimited ? (
          <span class="age">{said.unlimited}</span>
        ) : value?.remaining == null ? null : (
          short(value.remaining)
        )
      }
      note={value?.quota.value == null ? undefined : fill(said.quotaOf, { value: short(value.quota.value) })}
      tone={value?.usage_percent != null && value.usage_percent > 90 ? 'warning' : undefined}
      {...time}
    />
  )
}

/** `12.3 %` of a fraction. */
export const percent = (fraction: number): string => `${oneDigit(fraction * 100)} %`
