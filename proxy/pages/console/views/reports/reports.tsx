/** Reports: the timeline, carbon, surveys, and the procession over time. The page prints as the event's report. */
import type { Data } from '#shared/client/index.ts'
import { KG_PER_KM, KG_PER_UNIT, ZERO_EMISSION_KMH } from '#shared/core/rules/carbon.ts'
import { figure } from '#shared/locales/units.ts'
import { dayName, dayOf, fullDate, now, weekdayName } from '../../clock.ts'
import { distancesOf, modeName, ridden } from '../../parts/distances.ts'
import { fileName, saveCsv } from '../../parts/download.ts'
import { Figure, Figures, Panel, PanelFrom, Stamp, isLoading, isStale } from '../../parts/panel.tsx'
import { type BarGroup, saveBars } from '../../parts/picture.ts'
import { type Resource, useResource } from '../../resource.ts'
import { MANAGER, client, level } from '../../session.ts'
import { ExportMenu, useExports } from './exports.tsx'
import { ProcessionOverTime } from './procession-over-time.tsx'
import { Surveys } from './surveys.tsx'
import type { Timeline } from './time-chart.tsx'
import { TimelinePanel, sumsText } from './timeline.tsx'
import { inKg, inKm, pair, units, words } from '../../words.ts'
import { Bars } from '../../../design/chart.tsx'
import { pageData } from '../../../frame/page-data.ts'

const EVERY_MS = 60_000

/** A volunteer may not read what was ridden and emitted, nor the surveys. */
export const Reports = () => (level.value >= MANAGER ? <Whole /> : <Report carbon={null} />)

function Whole() {
  const carbon = useResource(client.readCarbon, EVERY_MS, 'carbon')
  return <Report carbon={carbon} />
}

function Report({ carbon }: { readonly carbon: Resource<Data<'readCarbon'>> | null }) {
  const timeline = useResource(client.readTimeline, EVERY_MS, 'timeline')
  const said = words.value.reports
  return (
    <div class="view reports">
      <header class="row report-head">
        <h1>
          {said.title} <span class="quiet">{pageData().name}</span>
        </h1>
        <span class="small quiet print-only">
          {said.made} {fullDate(now.value)}
        </span>
        <span class="spring" />
        <ExportMenu />
      </header>
      {carbon === null ? null : <Headline carbon={carbon} days={timeline.value.value?.days ?? []} />}
      <TimelinePanel timeline={timeline} />
      <ProcessionOverTime timeline={timeline} />
      {carbon === null ? null : (
        <>
          <Carbon carbon={carbon} />
          <Surveys />
        </>
      )}
    </div>
  )
}

// The event in four figures, and its latest day, before everything that explains them.

interface HeadlineProps {
  readonly carbon: Resource<Data<'readCarbon'>>
  readonly days: Timeline['days']
}

function Headline({ carbon, days }: HeadlineProps) {
  const said = words.value.reports
  const value = carbon.value.value
  const state = { stale: isStale(carbon), loading: isLoading(carbon) }
  return (
    <Panel
      title={said.headline}
      kind="headline"
      stale={state.stale}
      stamp={<Stamp at={value?.as_of ?? null} stale={state.stale} />}
    >
      <Figures>
        <Figure
          label={words.value.now.km}
          value={value && figure(distancesOf(value).walked)}
          unit={units.value.km}
          note={value === null ? undefined : ridden(value)}
          {...state}
        />
        <Figure label={said.pilgrims} value={value && figure(value.pilgrims)} {...state} />
        <Figure
          label={said.total}
          value={value && figure(value.total_kg)}
          unit={units.value.kg}
          note={value === null ? undefined : pair(said.mean, inKg(value.mean_kg))}
          {...state}
        />
        <Figure
          label={said.saved}
          value={value && figure(value.saved_kg)}
          unit={units.value.kg}
          tone="good"
          {...state}
        />
      </Figures>
      {days.slice(-1).map((latest) => (
        <p key={latest.day}>
          {pair(
            latest.day === dayOf(now.value) ? words.value.system.periods.today : dayName(latest.day),
            `${words.value.now.pilgrims(latest.pilgrims)} · ${sumsText(latest)}`,
          )}
        </p>
      ))}
    </Panel>
  )
}

type Totals = Data<'readCarbon'>

/** Bars of a kind that the report's page has room for; the style sheet hides the others. */
const PRINTED = 10

function Carbon({ carbon }: { readonly carbon: Resource<Totals> }) {
  const said = words.value.reports
  const totals = carbon.value.value
  useExports(said.carbon, totals && { CSV: () => save(totals), PNG: () => savePicture(totals) })
  return (
    <PanelFrom title={said.carbon} kind="carbon" from={carbon}>
      {(value) => (
        <>
          {groupsOf(value).map(({ title, bars }) => (
            <section key={title}>
              <h3>{title}</h3>
              <Bars bars={bars} />
              {bars.length <= PRINTED ? null : (
                <p class="small quiet print-only">
                  +{figure(bars.length - PRINTED)} {said.more}
                </p>
              )}
            </section>
          ))}
          <p class="small quiet">
            {pair(said.used, inKg(value.consumption.kg))} ·{' '}
            {(['water', 'recycle', 'hotel'] as const)
              .map((unit) => pair(said.method.units[unit], figure(value.consumption[unit])))
              .join(' · ')}
          </p>
          <CarbonMethod />
        </>
      )}
    </PanelFrom>
  )
}

/** The bars of the page and of its picture: by mode, longest way first, and by day. */
function groupsOf({ by_mode, by_day }: Totals): readonly BarGroup[] {
  const said = words.value.reports
  const modes = Object.entries(by_mode).sort(([, a], [, b]) => b.km - a.km)
  return [
    {
      title: said.mode,
      bars: modes.map(([mode, { km, kg }]) => ({
        name: modeName(mode),
        value: km,
        shown: `${inKm(km)} · ${inKg(kg)}`,
      })),
    },
    {
      title: said.byDay,
      bars: by_day.map(({ day, km, kg }) => ({
        name: weekdayName(day),
        value: kg,
        shown: `${inKg(kg)} · ${inKm(km)}`,
      })),
    },
  ]
}

function savePicture(value: Totals): void {
  const said = words.value.reports
  const figures = [
    pair(said.total, inKg(value.total_kg)),
    pair(said.mean, inKg(value.mean_kg)),
    pair(said.saved, inKg(value.saved_kg)),
  ]
  const lines = [
    value.as_of === null ? words.value.common.never : `${words.value.common.asOf} ${fullDate(value.as_of)}`,
    [...figures, pair(said.pilgrims, figure(value.pilgrims))].join(' · '),
  ]
  saveBars(
    { title: said.carbon, lines },
    groupsOf(value),
    fileName('carbon', dayOf(value.as_of ?? now.peek()), 'png'),
  )
}

const save = ({ by_mode, by_day, ...totals }: Totals): void =>
  saveCsv(
    [
      ['what', 'name', 'km', 'kg'],
      ['total', words.value.reports.total, '', totals.total_kg],
      ['saved', words.value.reports.saved, '', totals.saved_kg],
      ...Object.entries(by_mode).map(([mode, { km, kg }]) => ['mode', modeName(mode), km, kg]),
      ...by_day.map(({ day, km, kg }) => ['day', day, km, kg]),
      ['consumption', words.value.reports.used, '', totals.consumption.kg],
      ...carbonFactors().map(([name, kg]) => ['factor', name, '', kg]),
    ],
    fileName('carbon', dayOf(totals.as_of ?? now.peek()), 'csv'),
  )

/** Factors by the names that operators read: a kilometre of each mode, then a bottle, a recycled one, a night. */
function carbonFactors(): readonly (readonly [name: string, kg: number])[] {
  const { units } = words.value.reports.method
  return [
    ...Object.entries(KG_PER_KM).map(([mode, kg]) => [`${modeName(mode)}, ${inKm(1)}`, kg] as const),
    ...Object.entries(KG_PER_UNIT).map(([name, kg]) => [units[name as keyof typeof units], kg] as const),
  ]
}

/** How the footprint is computed, for whoever has to explain it. */
const CarbonMethod = () => {
  const said = words.value.reports.method
  return (
    <details>
      <summary>{said.title}</summary>
      <p>{said.speed(ZERO_EMISSION_KMH)}</p>
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
