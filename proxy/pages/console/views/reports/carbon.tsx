/** Two panels: the event in four figures with its latest day, and rides with their emissions. */
import type { Data } from '#shared/client/index.ts'
import { KG_PER_KM, KG_PER_UNIT, ZERO_EMISSION_KMH } from '#shared/core/rules/carbon.ts'
import { figure } from '#shared/locales/units.ts'
import { dayName, dayOf, now, weekdayName } from '../../clock.ts'
import { distancesOf, modeName, ridden } from '../../parts/distances.ts'
import type { Cell } from '../../parts/csv.ts'
import { fileName, saveCsv } from '../../parts/download.ts'
import { Figure, Figures, Panel, PanelFrom, isLoading, isStale } from '../../parts/panel.tsx'
import { useExports } from './exports.tsx'
import type { ReportProps } from './panels.ts'
import { SERIES, type Timeline } from './time-chart.tsx'
import { sumsText } from './timeline.tsx'
import { inKg, inKm, pair, units, words } from '../../words.ts'
import { type Bar, Bars } from '../../../design/chart.tsx'

// The event in four figures, and its latest day.

export function Headline({ carbon: read, timeline }: ReportProps) {
  const messages = words.value.reports
  const carbon = read!
  const value = carbon.value.value
  const latest = timeline.value.value?.days.at(-1)
  const state = { stale: isStale(carbon) || isStale(timeline), loading: isLoading(carbon) }
  useExports('headline', value && (() => saveSummary(value, latest)))
  return (
    <Panel title={messages.panels.headline} kind="headline" stale={state.stale} at={value?.as_of ?? null}>
      <Figures>
        <Figure
          label={words.value.now.km}
          value={value && figure(distancesOf(value).walked)}
          unit={units.value.km}
          note={value === null ? undefined : ridden(value)}
          {...state}
        />
        <Figure label={messages.series.pilgrims} value={value && figure(value.pilgrims)} {...state} />
        <Figure
          label={messages.total}
          value={value && figure(value.total_kg)}
          unit={units.value.kg}
          note={value === null ? undefined : pair(messages.mean, inKg(value.mean_kg))}
          {...state}
        />
        <Figure
          label={messages.saved}
          value={value && figure(value.saved_kg)}
          unit={units.value.kg}
          tone="good"
          {...state}
        />
      </Figures>
      {latest === undefined ? null : (
        <p>
          {pair(
            latest.day === dayOf(now.value) ? words.value.system.periods.today : dayName(latest.day),
            `${words.value.now.pilgrims(latest.pilgrims)} · ${sumsText(latest)}`,
          )}
        </p>
      )}
    </Panel>
  )
}

const saveSummary = (value: Totals, latest: Timeline['days'][number] | undefined): void =>
  saveCsv(summaryRows(value, latest), fileName('summary', dayOf(value.as_of ?? now.peek()), 'csv'))

export function summaryRows(value: Totals, latest: Timeline['days'][number] | undefined): Cell[][] {
  const { reports, now: messages } = words.value
  const { walk, ...rides } = value.recorded_km
  return [
    ['what', 'day', 'figure', 'unit'],
    [messages.km, '', walk ?? 0, 'km'],
    ...Object.entries(rides).map(([mode, km]) => [modeName(mode), '', km, 'km']),
    [reports.series.pilgrims, '', value.pilgrims, ''],
    [reports.total, '', value.total_kg, 'kg'],
    [reports.mean, '', value.mean_kg, 'kg'],
    [reports.saved, '', value.saved_kg, 'kg'],
    ...(latest === undefined
      ? []
      : SERIES.map((name) => [reports.series[name], latest.day, latest[name], ''])),
  ]
}

type Totals = Data<'readCarbon'>

/** Number of bars that fit on the report's page; the style sheet hides the others. */
const PRINTED = 10

export function Carbon({ carbon }: ReportProps) {
  const messages = words.value.reports
  const totals = carbon!.value.value
  useExports('carbon', totals && (() => save(totals)))
  return (
    <PanelFrom title={messages.panels.carbon} kind="carbon" from={carbon!}>
      {(value) => (
        <>
          {groupsOf(value).map(({ title, bars }) => (
            <section key={title}>
              <h3>{title}</h3>
              <Bars bars={bars} />
              {bars.length <= PRINTED ? null : (
                <p class="small quiet print-only">
                  +{figure(bars.length - PRINTED)} {messages.more}
                </p>
              )}
            </section>
          ))}
          <p class="small quiet">
            {pair(messages.used, inKg(value.consumption.kg))} ·{' '}
            {(['water', 'recycle', 'hotel'] as const)
              .map((unit) => pair(messages.method.units[unit], figure(value.consumption[unit])))
              .join(' · ')}
          </p>
          <CarbonMethod />
        </>
      )}
    </PanelFrom>
  )
}

/** By mode, largest first, and by day. */
function groupsOf({
  by_mode,
  by_day,
}: Totals): readonly { readonly title: string; readonly bars: readonly Bar[] }[] {
  const messages = words.value.reports
  const modes = Object.entries(by_mode).sort(([, a], [, b]) => b.kg - a.kg)
  return [
    {
      title: messages.mode,
      bars: modes.map(([mode, { km, kg }]) => ({
        name: modeName(mode),
        value: kg,
        shown: `${inKg(kg)} · ${inKm(km)}`,
      })),
    },
    {
      title: messages.byDay,
      bars: by_day.map(({ day, km, kg }) => ({
        name: weekdayName(day),
        value: kg,
        shown: `${inKg(kg)} · ${inKm(km)}`,
      })),
    },
  ]
}

const save = (totals: Totals): void =>
  saveCsv(carbonRows(totals), fileName('carbon', dayOf(totals.as_of ?? now.peek()), 'csv'))

export const carbonRows = ({ by_mode, by_day, ...totals }: Totals): Cell[][] => [
  ['what', 'name', 'km', 'kg'],
  ['total', words.value.reports.total, '', totals.total_kg],
  ['saved', words.value.reports.saved, '', totals.saved_kg],
  ...Object.entries(by_mode).map(([mode, { km, kg }]) => ['mode', modeName(mode), km, kg]),
  ...by_day.map(({ day, km, kg }) => ['day', day, km, kg]),
  ['consumption', words.value.reports.used, '', totals.consumption.kg],
  ...carbonFactors().map(([name, kg]) => ['factor', name, '', kg]),
]

function carbonFactors(): readonly (readonly [name: string, kg: number])[] {
  const { units } = words.value.reports.method
  return [
    ...Object.entries(KG_PER_KM).map(([mode, kg]) => [`${modeName(mode)}, ${inKm(1)}`, kg] as const),
    ...Object.entries(KG_PER_UNIT).map(([name, kg]) => [units[name as keyof typeof units], kg] as const),
  ]
}

const CarbonMethod = () => {
  const messages = words.value.reports.method
  return (
    <details>
      <summary>{messages.title}</summary>
      <p>{messages.speed(ZERO_EMISSION_KMH)}</p>
      <dl class="factors">
        {carbonFactors().map(([name, kg]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{`${kg} ${units.value.kg} CO₂e`}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
