/** Check-ins and points a minute over the last half hour, moving. */
import { minute, now, number } from '../../clock.ts'
import { connection } from '../../live.ts'
import { Panel } from '../../parts/panel.tsx'
import { rates, ratesSince, SPAN_MS, STEP_MS } from '../../rates.ts'
import { fill, words } from '../../words.ts'

const WIDTH = 600
const HEIGHT = 100

export function Rates() {
  const said = words.value.now
  const since = ratesSince.value
  return (
    <Panel
      title={said.chart}
      kind="rates"
      stale={connection.value !== 'live'}
      stamp={
        since === null ? null : <span class="stamp">{fill(said.observedSince, { time: minute(since) })}</span>
      }
    >
      {since === null ? (
        <p class="quiet">{said.chartEmpty}</p>
      ) : (
        <>
          <Rate series="checkins" name={said.checkins} since={since} />
          <Rate series="points" name={said.points} since={since} />
        </>
      )}
    </Panel>
  )
}

interface RateProps {
  readonly series: 'checkins' | 'points'
  readonly name: string
  readonly since: number
}

/** Values of each complete step since counting began, oldest first. */
function valuesOf(series: RateProps['series'], since: number, to: number): { at: number; value: number }[] {
  const known = new Map(rates.value.map((rate) => [rate.at, rate[series]]))
  const values = []
  const first = Math.ceil(Math.max(since, to - SPAN_MS) / STEP_MS) * STEP_MS
  for (let at = first; at + STEP_MS <= to; at += STEP_MS) values.push({ at, value: known.get(at) ?? 0 })
  return values
}

const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return Math.max(10, Math.ceil(value / power) * power)
}

function Rate({ series, name, since }: RateProps) {
  const to = now.value
  const values = valuesOf(series, since, to)
  const top = roundUp(Math.max(0, ...values.map(({ value }) => value)))
  const x = (at: number) => (((at - (to - SPAN_MS)) / SPAN_MS) * WIDTH).toFixed(1)
  const y = (value: number) => (HEIGHT - (value / top) * HEIGHT).toFixed(1)
  const places = values.map(({ at, value }) => `${x(at + STEP_MS)} ${y(value)}`)
  const latest = values.at(-1)?.value ?? 0
  return (
    <figure class={`rate ${series}`}>
      <figcaption class="small">
        {name} <strong>{number(latest)}</strong>
      </figcaption>
      <div class="plot">
        <span class="axis top">{number(top)}</span>
        <span class="axis bottom">0</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${name}: ${number(latest)}`}
        >
          <path class="grid" d={`M0 0H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
          {places.length < 2 ? null : (
            <>
              <path
                class="area"
                d={`M${places[0]!.split(' ')[0]} ${HEIGHT}L${places.join('L')}L${places.at(-1)!.split(' ')[0]} ${HEIGHT}Z`}
              />
              <path class="line" d={`M${places.join('L')}`} />
            </>
          )}
        </svg>
      </div>
      <p class="times small quiet" aria-hidden="true">
        <span>{minute(to - SPAN_MS)}</span>
        <span>{minute(to - SPAN_MS / 2)}</span>
        <span>{minute(to)}</span>
      </p>
    </figure>
  )
}
