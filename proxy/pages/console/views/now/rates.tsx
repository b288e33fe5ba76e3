/** Check-ins and points a minute, moving: as charts that tell their values, and as a table. */
import { useSignal } from '@preact/signals'
import { Table } from '../../../design/table.tsx'
import { minute, now, number } from '../../clock.ts'
import { connection } from '../../live.ts'
import { Panel } from '../../parts/panel.tsx'
import { rates, ratesSince } from '../../rates.ts'
import { fill, words } from '../../words.ts'
import { RateChart } from './rate-chart.tsx'
import { minutesOf, windowOf } from './rate-series.ts'

const MINUTE_MS = 60_000

export function Rates() {
  const said = words.value.now
  const since = ratesSince.value
  const pointed = useSignal<number | null>(null)
  return (
    <Panel
      title={said.chart}
      kind="rates"
      stale={connection.value !== 'live'}
      stamp={since === null ? null : <span class="stamp">{spanText(since)}</span>}
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
  return since > now.value - spanMs
    ? fill(words.value.now.observedSince, { time: minute(since) })
    : fill(words.value.now.chartSpan, { minutes: spanMs / MINUTE_MS })
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
            { name: said.chartTime, cell: ({ at }) => minute(at) },
            { name: said.legendCheckins, number: true, cell: ({ checkins }) => number(checkins) },
            { name: said.legendPoints, number: true, cell: ({ points }) => number(points) },
          ]}
          rows={minutesOf(rates.value, since, now.value)}
          keyOf={({ at }) => at}
          empty={said.chartEmpty}
        />
      ) : null}
    </details>
  )
}
