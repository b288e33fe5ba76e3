import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import { Button, Segments } from '../../../design/button.tsx'
import { Table } from '../../../design/table.tsx'
import { date, dayName, fixedDigit, number, oneDigit, shortDay } from '../../clock.ts'
import { saveCsv, savePng } from '../../parts/download.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { fill, words } from '../../words.ts'
import { type Grain, type Row, rowsOf, type Series, SERIES, sumBetween, type Timeline } from './series.ts'
import { marksOf } from './chart-marks.ts'
import { Happened } from './happened.tsx'
import { TimeChart } from './time-chart.tsx'

export function TimelinePanel({ timeline }: { readonly timeline: Resource<Timeline> }) {
  const said = words.value.reports
  const grain = useSignal<Grain>('hours')
  return (
    <PanelFrom
      title={said.timeline}
      kind="timeline"
      from={timeline}
      actions={
        <Segments
          label={said.by}
          options={[
            { value: 'hours', text: said.hours },
            { value: 'days', text: said.days },
          ]}
          value={grain.value}
          onChoose={(value) => (grain.value = value)}
        />
      }
    >
      {(value) =>
        value.hours.length === 0 ? (
          <p class="quiet">{said.empty}</p>
        ) : (
          <Chart timeline={value} grain={grain.value} />
        )
      }
    </PanelFrom>
  )
}

interface ChartProps {
  readonly timeline: Timeline
  readonly grain: Grain
}

type Range = readonly [from: number, to: number]

function Chart({ timeline, grain }: ChartProps) {
  const said = words.value.reports
  const series = useSignal<Series>('points')
  const range = useSignal<Range | null>(null)
  const frame = useRef<HTMLDivElement>(null)
  const rows = useMemo(() => rowsOf(timeline, grain), [timeline, grain])
  const last = rows.at(-1)?.t ?? 0
  const marks = useMemo(() => marksOf(timeline, last), [timeline, last])
  const [from, to] = range.value ?? [rows[0]?.t ?? 0, rows.at(-1)?.t ?? 0]
  return (
    <>
      <div class="row">
        <Segments
          label={said.timeline}
          options={SERIES.map((value) => ({ value, text: said.series[value] }))}
          value={series.value}
          onChoose={(value) => (series.value = value)}
        />
        <span class="spring" />
        <Button onClick={() => saveRows(rows)}>{words.value.common.csv}</Button>
        <Button
          onClick={() => {
            const canvas = frame.current?.querySelector('canvas')
            if (canvas) savePng([canvas], 'timeline.png')
          }}
        >
          {words.value.common.png}
        </Button>
      </div>
      <div ref={frame}>
        <TimeChart
          rows={rows}
          series={series.value}
          label={said.series[series.value]}
          hourly={grain === 'hours'}
          marks={marks}
          onRange={(chosen) => (range.value = chosen)}
        />
      </div>
      <p class="small quiet">{said.timelineHelp}</p>
      <output>{chosenText(rows, from, to, grain)}</output>
      <Happened timeline={timeline} from={range.value?.[0] ?? -Infinity} to={range.value?.[1] ?? Infinity} />
      <details>
        <summary>{said.numbers}</summary>
        <Numbers rows={rows} grain={grain} />
      </details>
    </>
  )
}

function chosenText(rows: readonly Row[], from: number, to: number, grain: Grain): string {
  const time = grain === 'hours' ? date : shortDay
  const sums = sumBetween(rows, from, to)
  return fill(words.value.reports.chosen, {
    from: time(from * 1_000),
    to: time(to * 1_000),
    points: number(sums.points),
    checkins: number(sums.checkins),
    km: oneDigit(sums.km),
    carbon: oneDigit(sums.carbon_kg),
  })
}

const saveRows = (rows: readonly Row[]): void =>
  saveCsv(
    [['time', ...SERIES], ...rows.map((row) => [row.name, ...SERIES.map((name) => row[name])])],
    'timeline.csv',
  )

/** Columns with a digit after the point. */
const PARTIAL: ReadonlySet<Series> = new Set(['km', 'carbon_kg'])

/** The same as the chart, for readers without it. */
const Numbers = ({ rows, grain }: { readonly rows: readonly Row[]; readonly grain: Grain }) => (
  <Table
    caption={words.value.reports.timeline}
    columns={[
      {
        name: words.value.reports.when,
        cell: ({ t, name }: Row) => (grain === 'hours' ? date(t * 1_000) : dayName(name)),
      },
      ...SERIES.map((name) => ({
        name: words.value.reports.series[name],
        number: true,
        cell: (row: Row) => (PARTIAL.has(name) ? fixedDigit : number)(row[name]),
      })),
    ]}
    rows={rows.filter(({ points }) => points > 0)}
    keyOf={({ name }) => name}
  />
)
