/** Check-ins and points per minute: two moving charts that show their values at the same time. */
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import { minute, now, clock, duration } from '../../clock.ts'
import { connection, isCutOff, status } from '../../live.ts'
import { heardAt } from '../../resource.ts'
import { Panel } from '../../parts/panel.tsx'
import {
  rates,
  ratesSince,
  STEP_MS,
  windowOf,
  type Series,
  ticksOf,
  topOf,
  type Value,
  valuesOf,
} from '../../rates.ts'
import { pair, words } from '../../words.ts'

export function Rates() {
  const messages = words.value.now
  const since = ratesSince.value
  const isPaused = status.value?.status === 'paused'
  // The time since then is unknown, not zero.
  const to = isCutOff.value ? (heardAt.value ?? now.value) : now.value
  return (
    <Panel
      title={messages.chart}
      kind="rates"
      stale={isPaused || isCutOff.value || connection.value !== 'live'}
      at={isCutOff.value ? heardAt.value : null}
      stamp={
        isCutOff.value ? null : isPaused ? (
          <span class="badge warning">{words.value.bar.status.paused}</span>
        ) : since === null ? null : (
          <span class="stamp">{spanText(since)}</span>
        )
      }
    >
      {since === null ? <p class="quiet">{messages.chartEmpty}</p> : <Charts since={since} to={to} />}
    </Panel>
  )
}

function spanText(since: number): string {
  const { spanMs } = windowOf(since, now.value)
  return since > now.value - spanMs ? `${words.value.lifecycle.since} ${minute(since)}` : duration(spanMs)
}

const SERIES = ['checkins', 'points'] as const

function Charts({ since, to }: { readonly since: number; readonly to: number }) {
  const messages = words.value.now
  // Start of the step whose values are shown; null: the latest.
  const pointed = useSignal<number | null>(null)
  const span = windowOf(since, to)
  const steps = span.spanMs / STEP_MS
  const charts = SERIES.map((series) => valuesOf(rates.value, series, since, to))
  // All charts have the same steps.
  const known = charts[0]!
  const chosen = known.findIndex(({ at }) => at === pointed.value)
  const shownIndex = chosen < 0 ? known.length - 1 : chosen
  // Steps of the window before the end of the first observed one.
  const before = Math.round(((known[0]?.at ?? to) + STEP_MS - to) / STEP_MS) + steps
  /** @param step step of the window; the nearest observed one is shown */
  const tell = (step: number) => {
    pointed.value = known[Math.max(0, Math.min(known.length - 1, Math.round(step) - before))]?.at ?? null
  }
  return (
    <div class="rate-charts">
      {SERIES.map((series, i) => (
        <RateChart
          key={series}
          series={series}
          values={charts[i]!}
          chosen={charts[i]![chosen] ?? null}
          to={to}
          span={span}
        />
      ))}
      <input
        type="range"
        min={0}
        max={steps}
        value={shownIndex + before}
        aria-label={messages.chart}
        aria-valuetext={
          known.length === 0
            ? words.value.common.unknown
            : [
                clock(known[shownIndex]!.at),
                ...SERIES.map((series, i) => pair(messages[series], figure(charts[i]![shownIndex]!.value))),
              ].join(' · ')
        }
        onInput={(event) => tell(event.currentTarget.valueAsNumber)}
        onPointerMove={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          tell(((clientX - left) / width) * steps)
        }}
        onPointerLeave={() => (pointed.value = null)}
        onBlur={() => (pointed.value = null)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') pointed.value = null
        }}
      />
    </div>
  )
}

const WIDTH = 600
const HEIGHT = 100

interface Props {
  readonly series: Series
  readonly values: readonly Value[]
  readonly chosen: Value | null
  readonly to: number
  readonly span: ReturnType<typeof windowOf>
}

/** Positions in a chart as shares of its size. */
interface Scale {
  readonly x: (at: number) => number
  readonly y: (value: number) => number
}

function RateChart({ series, values, chosen, to, span }: Props) {
  const top = topOf(values)
  // A value is drawn at the end of its step.
  const scale: Scale = {
    x: (at) => (at + STEP_MS - (to - span.spanMs)) / span.spanMs,
    y: (value) => 1 - value / top,
  }
  const ticks = ticksOf(to, span)
  return (
    <figure class={`rate ${series}`}>
      <Caption name={words.value.now[series]} values={values} />
      <div class="plot">
        {[top, top / 2, 0].map((value, i) => (
          <span key={i} class="axis" style={{ top: `${i * 50}%` }}>
            {figure(value)}
          </span>
        ))}
        <Lines values={values} scale={scale} ticks={ticks.map(({ share }) => share)} chosen={chosen} />
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
  // The maximum, which the chart may cut off.
  const most = values.reduce<Value | null>(
    (last, next) => (last && last.value > next.value ? last : next),
    null,
  )
  return (
    <figcaption class="small">
      {name} <strong>{figure(values.at(-1)?.value ?? 0)}</strong>
      {values.length < 2 ? null : (
        <span class="quiet">
          {words.value.now.mean} {figure(Math.round(sum / values.length))} · {words.value.now.most}{' '}
          {figure(most?.value ?? 0)}
          {most === null ? null : ` (${minute(most.at)})`}
        </span>
      )}
    </figcaption>
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
      {/* The time before is unknown. */}
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

function Tip({ value, scale }: { readonly value: Value; readonly scale: Scale }) {
  const share = scale.x(value.at)
  const left = `${share * 100}%`
  return (
    <>
      <span class="tip-dot" style={{ left, top: `${Math.max(0, scale.y(value.value)) * 100}%` }} />
      <span class={share > 0.5 ? 'tip before' : 'tip'} style={{ left }}>
        {clock(value.at)} <strong>{figure(value.value)}</strong>
      </span>
    </>
  )
}
