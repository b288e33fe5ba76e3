/** Reports: the timeline, carbon, surveys, and the procession over time. The page prints as the event's report. */
import { Button } from '../../../design/button.tsx'
import { pageData } from '../../../frame/page-data.ts'
import { chooseTheme, theme } from '../../../frame/theme.ts'
import { fullDate, now } from '../../clock.ts'
import { useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { Carbon } from './carbon.tsx'
import { ProcessionOverTime } from './procession-over-time.tsx'
import { Surveys } from './surveys.tsx'
import { TimelinePanel } from './timeline.tsx'

const EVERY_MS = 60_000

const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))
/** Charts and map are drawn again after the frame in which the theme has changed. */
const FRAMES_TO_DRAW = 4

/** Paper is white: what is drawn on canvases has the light colours for it, whatever the theme of the screen is. */
async function printOnPaper(): Promise<void> {
  const chosen = theme.value
  chooseTheme('light')
  for (let frame = 0; frame < FRAMES_TO_DRAW; frame++) await nextFrame()
  addEventListener('afterprint', () => chooseTheme(chosen), { once: true })
  print()
}

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
        <Button onClick={() => void printOnPaper()}>{words.value.common.print}</Button>
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
