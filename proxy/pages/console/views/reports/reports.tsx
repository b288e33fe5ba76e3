/** Reports: the timeline, carbon, surveys, and the procession over time. The page prints as the event's report. */
import type { Data } from '#shared/client/index.ts'
import { Button } from '../../../design/button.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { fullDate, now } from '../../clock.ts'
import { type Resource, useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { Carbon } from './carbon.tsx'
import { Headline } from './headline.tsx'
import { ProcessionOverTime } from './procession-over-time.tsx'
import { Surveys } from './surveys.tsx'
import { TimelinePanel } from './timeline.tsx'

const EVERY_MS = 60_000

/** A volunteer may not read what was ridden and emitted, nor the surveys. */
export const Reports = () => (level.value >= MANAGER ? <Whole /> : <Report carbon={null} />)

function Whole() {
  const carbon = useResource((signal) => client.readCarbon({}, { signal }), EVERY_MS, 'carbon')
  return <Report carbon={carbon} />
}

function Report({ carbon }: { readonly carbon: Resource<Data<'readCarbon'>> | null }) {
  const timeline = useResource((signal) => client.readTimeline({}, { signal }), EVERY_MS, 'timeline')
  const said = words.value.reports
  return (
    <div class="view reports">
      <header class="row report-head">
        <h1>
          {said.title2} <span class="quiet">{pageData().name}</span>
        </h1>
        <span class="small quiet print-only">{fill(said.made, { time: fullDate(now.value) })}</span>
        <span class="spring" />
        <Button onClick={() => print()}>{words.value.common.print}</Button>
      </header>
      {carbon === null ? null : <Headline carbon={carbon} />}
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
