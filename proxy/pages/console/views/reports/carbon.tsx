import { figure } from '#shared/locales/units.ts'
import type { Data } from '#shared/client/index.ts'
import { Bars } from '../../../design/chart.tsx'
import { dayOf, fullDate, now, weekdayName } from '../../clock.ts'
import { type BarGroup, saveBars } from '../../parts/picture.ts'
import { fileName, saveCsv } from '../../parts/download.ts'
import { modeName } from '../../parts/distances.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useExports } from './exports.tsx'
import type { Resource } from '../../resource.ts'
import { pair, words, inKm, inKg, units } from '../../words.ts'
import { KG_PER_KM, KG_PER_UNIT, ZERO_EMISSION_KMH } from '#shared/core/rules/carbon.ts'

type Totals = Data<'readCarbon'>

/** Bars of a kind that the report's page has room for; the style sheet hides the others. */
const PRINTED = 10

/** The footprint of the event by mode and day. */
export function Carbon({ carbon }: { readonly carbon: Resource<Totals> }) {
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
