/** Reports: the timeline, carbon, surveys, and the procession over time. The page prints as the event's report. */
import { figure } from '#shared/locales/units.ts'
import type { Data } from '#shared/client/index.ts'
import { pageData } from '../../../frame/page-data.ts'
import { dayName, dayOf, fullDate, now } from '../../clock.ts'
import { type Resource, useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { pair, words, inKg, units } from '../../words.ts'
import { Carbon } from './carbon.tsx'
import { ProcessionOverTime } from './procession-over-time.tsx'
import { ExportMenu } from './exports.tsx'
import { Surveys } from './surveys.tsx'
import { sumsText, TimelinePanel } from './timeline.tsx'
import type { Timeline } from './time-chart.tsx'
import { distancesOf, ridden } from '../../parts/distances.ts'
import { Figure, Figures } from '../../parts/figure.tsx'
import { isLoading, isStale, Panel, Stamp } from '../../parts/panel.tsx'

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
