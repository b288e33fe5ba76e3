/** Check-ins and points a minute, moving: as charts that tell their values, and as a table. */
import { figure } from '#shared/locales/units.ts'
import { useSignal, type Signal } from '@preact/signals'
import { Table } from '../../../design/table.tsx'
import { minute, now, clock, duration } from '../../clock.ts'
import { connection, status } from '../../live.ts'
import { Panel } from '../../parts/panel.tsx'
import {
  rates,
  ratesSince,
  STEP_MS,
  minutesOf,
  windowOf,
  roundUp,
  type Series,
  ticksOf,
  type Value,
  valuesOf,
} from '../../rates.ts'
import { pair, words } from '../../words.ts'

export function Rates() {
  const said = words.value.now
  const since = ratesSince.value
  const pointed = useSignal<number | null>(null)
  const isPaused = status.value?.status === 'paused'
  return (
    <Panel
      title={said.chart}
      kind="rates"
      stale={isPaused || connection.value !== 'live'}
      stamp={
        isPaused ? (
          <span class="badge warning">{words.value.bar.status.paused}</span>
        ) : since === null ? null : (
          <span class="stamp">{spanText(since)}</span>
        )
      }
    >
      {since === null ? (
        <p class="quiet">{said.chartEmpty}</p>
      ) : (
        <>
          <RateChart series="checkins" name={said.checkins} since={since} pointed={pointed} />
          <RateChart series="points" name={said.points} since={since} pointed={pointed} />
          <Minutes since={since} />
        </>
      )}
    </Panel>
  )
}

function spanText(since: number): string {
  const { spanMs } = windowOf(since, now.value)
  return since > now.value - spanMs ? `${words.value.lifecycle.since} ${minute(since)}` : duration(spanMs)
}

/** The same as a table, for whoever does not see the chart or wants exact figures. */
function Minutes({ since }: { readonly since: number }) {
  const said = words.value.now
  const open = useSignal(false)
  return (
    <details class="rate-table small" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>{said.chartTable}</summary>
      {open.value ? (
        <Table
          caption={said.chart}
          titled
          columns={[
            { name: words.value.people.point.at, cell: ({ at }) => minute(at) },
            {
              name: words.value.people.columns.checkins,
              number: true,
              cell: ({ checkins }) => figure(checkins),
            },
            { name: words.value.reports.series.points, number: true, cell: ({ points }) => figure(points) },
          ]}
          rows={minutesOf(rates.value, since, now.value)}
          keyOf={({ at }) => at}
          empty={said.chartEmpty}
        />
      ) : null}
    </details>
  )
}

// A chart of one rate. Pointing at it, or the arrow keys, tell the value of a time, in all charts of the panel.

const WIDTH = 600
const HEIGHT = 100

interface Props {
  readonly series: Series
  readonly name: string
  readonly since: number
  /** Start of the step whose value is told; null: none. */
  readonly pointed: Signal<number | null>
}

/** Places of a chart in shares of its size. */
interface Scale {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

function RateChart({ series, name, since, pointed }: Props) {
  const to = now.value
  const span = windowOf(since, to)
  const values = valuesOf(rates.value, series, since, to)
  const top = roundUp(Math.max(0, ...values.map(({ value }) => value)))
  // A value stands at the end of its step.
  const scale: Scale = {
    x: (at) => (at + STEP_MS - (to - span.spanMs)) / span.spanMs,
    y: (value) => 1 - value / top,
  }
  const ticks = ticksOf(to, span)
  const chosen = values.find(({ at }) => at === pointed.value) ?? null
  return (
    <figure class={`rate ${series}`}>
      <Caption name={name} values={values} />
      <div class="plot">
        {[top, top / 2, 0].map((value, i) => (
          <span key={i} class="axis" style={{ top: `${i * 50}%` }}>
            {figure(value)}
          </span>
        ))}
        <Lines values={values} scale={scale} ticks={ticks.map(({ share }) => share)} chosen={chosen} />
        <Times {...{ name, values, pointed, chosen }} fromMs={to - span.spanMs} spanMs={span.spanMs} />
        {chosen === null ? null : <Tip value={chosen} scale={scale} />}
      </div>
      <p class="times small quiet" aria-hidden="true">
        {ticks.map(({ at, share }) => (
          <span key={at} style={{ left: `${share * 100}%` }}>
            {minute(at)}
          </span>
        ))}
      </p>
    </figure>
  )
}

function Caption({ name, values }: { readonly name: string; readonly values: readonly Value[] }) {
  const sum = values.reduce((total, { value }) => total + value, 0)
  const most = Math.max(0, ...values.map(({ value }) => value))
  return (
    <figcaption class="small">
      {name} <strong>{figure(values.at(-1)?.value ?? 0)}</strong>
      {values.length < 2 ? null : (
        <span class="quiet">
          {words.value.now.mean} {figure(Math.round(sum / values.length))} · {words.value.now.most}{' '}
          {figure(most)}
        </span>
      )}
    </figcaption>
  )
}

interface TimesProps extends Pick<Props, 'name' | 'pointed'> {
  readonly values: readonly Value[]
  readonly chosen: Value | null
  readonly fromMs: number
  readonly spanMs: number
}

/** What the pointer and the keyboard move over the chart: the time whose values are told. */
function Times({ name, values, pointed, chosen, fromMs, spanMs }: TimesProps) {
  const told = chosen ?? values.at(-1)
  const steps = spanMs / STEP_MS
  const stepOf = ({ at }: Value) => Math.round((at + STEP_MS - fromMs) / STEP_MS)
  /** @param step of the window; the nearest one that was observed is told */
  const tell = (step: number) => {
    const first = values[0]
    const i = first === undefined ? 0 : Math.round(step) - stepOf(first)
    pointed.value = values[Math.max(0, Math.min(values.length - 1, i))]?.at ?? null
  }
  const point = (event: PointerEvent & { readonly currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    tell(((event.clientX - left) / width) * steps)
  }
  return (
    <input
      type="range"
      min={0}
      max={steps}
      value={told === undefined ? steps : stepOf(told)}
      aria-label={name}
      aria-valuetext={
        told === undefined ? words.value.common.unknown : pair(clock(told.at), figure(told.value))
      }
      onInput={(event) => tell(event.currentTarget.valueAsNumber)}
      onPointerMove={point}
      onPointerLeave={() => (pointed.value = null)}
      onBlur={() => (pointed.value = null)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') pointed.value = null
      }}
    />
  )
}

interface LinesProps {
  readonly values: readonly Value[]
  readonly scale: Scale
  readonly ticks: readonly number[]
  readonly chosen: Value | null
}

function Lines({ values, scale, ticks, chosen }: LinesProps) {
  const x = (at: number) => (scale.x(at) * WIDTH).toFixed(1)
  const places = values.map(({ at, value }) => `${x(at)} ${(scale.y(value) * HEIGHT).toFixed(1)}`)
  const [first, last] = [values[0], values.at(-1)]
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {/* Nothing is known of the time before. */}
      {first === undefined || scale.x(first.at) <= 0 ? null : (
        <rect class="unknown" width={x(first.at)} height={HEIGHT} />
      )}
      <path class="grid" d={`M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
      <path class="grid" d={ticks.map((share) => `M${(share * WIDTH).toFixed(1)} 0V${HEIGHT}`).join('')} />
      {first === undefined || last === undefined || values.length < 2 ? null : (
        <>
          <path class="area" d={`M${x(first.at)} ${HEIGHT}L${places.join('L')}L${x(last.at)} ${HEIGHT}Z`} />
          <path class="line" d={`M${places.join('L')}`} />
        </>
      )}
      {chosen === null ? null : <path class="pointer" d={`M${x(chosen.at)} 0V${HEIGHT}`} />}
    </svg>
  )
}

/** The value that is pointed at. It stands at the side where there is more room. */
function Tip({ value, scale }: { readonly value: Value; readonly scale: Scale }) {
  const share = scale.x(value.at)
  const left = `${share * 100}%`
  return (
    <>
      <span class="tip-dot" style={{ left, top: `${scale.y(value.value) * 100}%` }} />
      <span class={share > 0.5 ? 'tip before' : 'tip'} style={{ left }}>
        {clock(value.at)} <strong>{figure(value.value)}</strong>
      </span>
    </>
  )
}
