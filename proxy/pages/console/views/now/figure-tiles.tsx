import type { Data } from '#shared/client/index.ts'
import { ago, date, minute, now, number, oneDigit, short } from '../../clock.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { isLoading, isStale, Panel } from '../../parts/panel.tsx'
import { connection } from '../../live.ts'
import { HOUR_MS, lastHour, rates, ratesSince, STEP_MS, lastMinute } from '../../rates.ts'
import type { Resource } from '../../resource.ts'
import { fill, words } from '../../words.ts'
import { distancesOf, kilometres, ridden } from '../../parts/distances.ts'
import type { Overview } from './map-panel.tsx'
import { useSignal } from '@preact/signals'
import { Button } from '../../../design/button.tsx'
import { act } from '../../parts/actions.tsx'
import { client } from '../../session.ts'

export type Condition = Data<'readCondition'>

interface Props {
  /** Null for a volunteer, who may not read it. */
  readonly condition: Resource<Condition> | null
  readonly map: Resource<Overview>
  readonly hour: Resource<Data<'readLastHour'>>
  /** Kilometres by mode; null for a volunteer, who may not read them. */
  readonly modes: Resource<Data<'readCarbon'>> | null
  readonly usage: Resource<Data<'readLineUsage'>>
}

export const FigureTiles = ({ condition, map, hour, modes, usage }: Props) => (
  <Panel
    title={words.value.now.figures}
    kind="figures"
    actions={condition === null ? undefined : <FlushNow />}
  >
    <Figures>
      <HourTiles hour={hour} />
      <CrowdTiles map={map} />
      <DistanceTile map={map} modes={modes} />
      {condition === null ? null : <RateTiles />}
      {condition === null ? null : <StoreTiles condition={condition} />}
      <QuotaTile usage={usage} />
    </Figures>
  </Panel>
)

/** How many people walk and have checked in, and how many check-ins came, in the last 60 minutes. */
function HourTiles({ hour }: Pick<Props, 'hour'>) {
  const said = words.value.now
  const value = hour.value.value
  const walking = value?.walking ?? null
  const counted = lastHour(now.value)
  const whole = counted === null || now.value - counted.since >= HOUR_MS - STEP_MS
  const ofFlush = {
    at: walking?.as_of ?? null,
    stale: isStale(hour) || toneOfFlush(walking?.as_of ?? null) !== 'good',
    loading: isLoading(hour),
  }
  return (
    <>
      <Figure
        label={said.walking}
        value={walking && number(walking.pilgrims)}
        note={said.walkingRule}
        {...ofFlush}
      />
      <Figure
        label={said.checkedIn}
        value={walking && number(walking.checked_in)}
        note={said.checkedInRule}
        {...ofFlush}
      />
      <Figure
        label={said.received}
        value={counted && number(counted.checkins)}
        note={whole ? said.receivedRule : fill(said.receivedSince, { time: minute(counted.since) })}
        at={connection.value === 'live' ? now.value : (value?.received?.through ?? null)}
        stale={isStale(hour)}
        loading={isLoading(hour)}
      />
    </>
  )
}

function RateTiles() {
  const said = words.value.now
  const since = ratesSince.value
  const rate = since === null ? null : lastMinute(rates.value, since, now.value)
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

/**
 * The public map shows who was seen in the last hours; everybody of the last day, when these are few. Who leaves a group
 * is not on it, so its figure may fall.
 */
function crowdRule({ event: { crowd }, seen_since: since }: Overview): string {
  const said = words.value.now
  const seen = fill(said.pilgrimsSeen, { time: date(Date.parse(since)) })
  return crowd > 1 ? fill(said.pilgrimsRule, { crowd: number(crowd), seen }) : seen
}

function CrowdTiles({ map }: Pick<Props, 'map'>) {
  const said = words.value.now
  const value = map.value.value
  return (
    <Figure
      label={said.pilgrims}
      value={value?.on_map === undefined ? null : number(value.on_map)}
      note={value === null ? undefined : crowdRule(value)}
      at={value?.as_of ?? null}
      stale={isStale(map) || (value?.stale ?? []).includes('crowd')}
      loading={isLoading(map)}
    />
  )
}

/** What was walked; what was ridden is said beside it. A volunteer sees the sum of all. */
function DistanceTile({ map, modes }: Pick<Props, 'map' | 'modes'>) {
  const said = words.value.now
  const totals = map.value.value?.totals ?? null
  const carbon = modes?.value.value ?? null
  const all = modes === null ? (totals?.km ?? null) : carbon && distancesOf(carbon).all
  const asOf = (modes === null ? totals?.as_of : carbon?.as_of) ?? null
  return (
    <Figure
      label={modes === null ? said.kmAll : said.km}
      value={all === null ? null : kilometres(carbon === null ? all : distancesOf(carbon).walked)}
      unit="km"
      note={carbon === null ? said.kmAllRule : ridden(carbon)}
      at={asOf}
      stale={modes === null ? isStale(map) : isStale(modes)}
      loading={modes === null ? isLoading(map) : isLoading(modes)}
    />
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
        note={
          value?.oldest_pending ? words.value.page.pair(said.oldest, ago(value.oldest_pending)) : undefined
        }
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

/** Flushes the buffer and says what was stored. */
function FlushNow() {
  const busy = useSignal(false)
  const said = words.value.now
  const flush = async () => {
    busy.value = true
    await act(client.forceFlush({}, { timeoutMs: 40_000 }), ({ finished, stored, dead_letters }) =>
      finished
        ? fill(said.flushed, { stored: number(stored), letters: number(dead_letters) })
        : said.flushing,
    )
    busy.value = false
  }
  return (
    <Button busy={busy.value} onClick={() => void flush()}>
      {said.flushNow}
    </Button>
  )
}
