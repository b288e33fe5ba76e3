/** Reports: the timeline, carbon, surveys, and the procession over time. The page prints as the event's report. */
import { Button } from '../../../design/button.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { fullDate, now } from '../../clock.ts'
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { Carbon } from './carbon.tsx'
import { ProcessionOverTime } from './procession-over-time.tsx'
import { Surveys } from './surveys.tsx'
import { TimelinePanel } from './timeline.tsx'

const EVERY_MS = 60_000

export function Reports() {
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
      <TimelinePanel timeline={timeline} />
      <ProcessionOverTime timeline={timeline} />
      {level.value >= MANAGER ? (
        <>
          <Carbon />
          <Surveys />
        </>
      ) : null}
    </div>
  )
}
