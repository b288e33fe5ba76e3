import { Choice } from '../../parts/fields.tsx'
import { figure } from '#shared/locales/units.ts'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Segments } from '../../../design/button.tsx'
import { Table } from '../../../design/table.tsx'
import { date, dayName, dayOf, localTime, shortDay } from '../../clock.ts'
import type { Cell } from '../../parts/csv.ts'
import { fileName, saveCsv } from '../../parts/download.ts'
import { Happened } from '../../parts/paged-list.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import { pair, words } from '../../words.ts'
import { useExports } from './exports.tsx'
import type { ReportProps } from './panels.ts'
import {
  type Grain,
  highestBetween,
  marksOf,
  type Range,
  type Row,
  rowsOf,
  SERIES,
  type Series,
  sumBetween,
  TimeChart,
  type Timeline,
} from './time-chart.tsx'
import { pageWords } from '../../../frame/language.ts'

/** The selectable series, the most requested first. */
const CHOICES = ['km', 'pilgrims', 'checkins', 'points', 'carbon_kg'] as const satisfies readonly Series[]

export function TimelinePanel({ timeline }: ReportProps) {
  const messages = words.value.reports
  const grain = useSignal<Grain>('hours')
  const series = useSignal<Series>('km')
  return (
    <PanelFrom
      title={messages.panels.timeline}
      kind="timeline"
      from={timeline}
      actions={
        <>
          <Choice
            bare
            label={words.value.people.show}
            value={series.value}
            options={CHOICES.map((value) => [value, messages.series[value]])}
            onChoose={(value) => (series.value = value)}
          />
          <Segments
            label={messages.by}
            options={[
              { value: 'hours', text: messages.hours },
              { value: 'days', text: messages.days },
            ]}
            value={grain.value}
            onChoose={(value) => (grain.value = value)}
          />
        </>
      }
    >
      {(value) =>
        value.hours.length === 0 ? (
          <p class="quiet">{words.value.common.none}</p>
        ) : (
          <Chart timeline={value} grain={grain.value} series={series.value} />
        )
      }
    </PanelFrom>
  )
}

interface ChartProps {
  readonly timeline: Timeline
  readonly grain: Grain
  readonly series: Series
}

function Chart({ timeline, grain, series }: ChartProps) {
  const messages = words.value.reports
  const range = useSignal<Range | null>(null)
  const rows = useMemo(() => rowsOf(timeline, grain), [timeline, grain])
  const last = rows.at(-1)?.t ?? 0
  const marks = useMemo(() => marksOf(timeline, last), [timeline, last])
  const [from, to] = range.value ?? [rows[0]?.t ?? 0, rows.at(-1)?.t ?? 0]
  useExports('timeline', () => saveRows(rows, grain))
  return (
    <>
      <TimeChart
        rows={rows}
        marks={marks}
        hourly={grain === 'hours'}
        series={series}
        label={messages.series[series]}
        onRange={(chosen) => (range.value = chosen)}
      />
      <output>
        {[chosenText(rows, from, to, grain), highestText(rows, series, from, to, grain)]
          .filter((text) => text !== '')
          .join(' · ')}
      </output>
      <WhatHappened
        timeline={timeline}
        from={range.value?.[0] ?? -Infinity}
        to={range.value?.[1] ?? Infinity}
      />
      <details>
        <summary>{messages.numbers}</summary>
        <Numbers rows={rows} grain={grain} />
      </details>
    </>
  )
}

function chosenText(rows: readonly Row[], from: number, to: number, grain: Grain): string {
  const time = grain === 'hours' ? date : shortDay
  const span = `${time(from * 1_000)} – ${time(to * 1_000)}`
  return `${span} · ${sumsText(sumBetween(rows, from, to))}`
}

type Sums = Omit<Timeline['days'][number], 'day' | 'pilgrims'>

/** `1,200 points · 40 check-ins · 310 km on foot and by vehicle · …` */
export function sumsText({ points, checkins, km, carbon_kg }: Sums): string {
  const { people, reports } = words.value
  return [
    people.points(points),
    people.checkIns(checkins),
    `${figure(km)} ${reports.series.km}`,
    `${figure(carbon_kg)} ${reports.series.carbon_kg}`,
  ].join(' · ')
}

function highestText(rows: readonly Row[], series: Series, from: number, to: number, grain: Grain): string {
  const messages = words.value.reports
  const row = highestBetween(rows, series, from, to)
  if (row === null) return ''
  const most = pair(messages.most, `${figure(row[series])} ${messages.series[series]}`)
  return pageWords.value.aside(most, whenOf(row, grain))
}

/** Columns whose short name would be misleading in a file. */
const COLUMNS: Partial<Record<Series, string>> = { km: 'km_on_foot_and_by_vehicle' }

const saveRows = (rows: readonly Row[], grain: Grain): void =>
  saveCsv(
    timelineRows(rows, grain),
    fileName(`timeline-by-${grain === 'hours' ? 'hour' : 'day'}`, lastDay(rows), 'csv'),
  )

export function timelineRows(rows: readonly Row[], grain: Grain): Cell[][] {
  const hourly = grain === 'hours'
  return [
    ['local_time', ...SERIES.map((name) => COLUMNS[name] ?? name), ...(hourly ? ['utc'] : [])],
    ...rows.map((row) => [
      hourly ? localTime(row.name) : row.name,
      ...SERIES.map((name) => row[name]),
      ...(hourly ? [row.name] : []),
    ]),
  ]
}

const lastDay = (rows: readonly Row[]): string => {
  const last = rows.at(-1)
  return last === undefined ? '' : dayOf(last.t * 1_000)
}

const whenOf = ({ t, name }: Row, grain: Grain): string =>
  grain === 'hours' ? date(t * 1_000) : dayName(name)

const Numbers = ({ rows, grain }: { readonly rows: readonly Row[]; readonly grain: Grain }) => (
  <Table
    caption={words.value.reports.panels.timeline}
    columns={[
      {
        name: words.value.people.point.at,
        cell: (row: Row) => whenOf(row, grain),
      },
      ...SERIES.map((name) => ({
        name: words.value.reports.series[name],
        number: true,
        cell: (row: Row) => figure(row[name]),
      })),
    ]}
    rows={rows.filter(({ points }) => points > 0)}
    keyOf={({ name }) => name}
  />
)

interface Props {
  readonly timeline: Timeline
  /** The selected time, epoch seconds. */
  readonly from: number
  readonly to: number
}

function WhatHappened({ timeline: { entries }, from, to }: Props) {
  const chosen = entries.filter(({ at }) => {
    const t = Date.parse(at) / 1_000
    return t >= from && t <= to
  })
  if (chosen.length === 0) return null
  return (
    <details class="happened">
      <summary>{pair(words.value.reports.happened, figure(chosen.length))}</summary>
      <ul class="rows">
        {chosen.toReversed().map((entry, i) => (
          <Happened key={`${entry.at} ${i}`} entry={entry} at={date(entry.at)} />
        ))}
      </ul>
    </details>
  )
}
