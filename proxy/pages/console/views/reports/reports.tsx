/** Reports: the panels of `panels.ts`, and a menu of their files. The page prints as the event's report. */
import { eventName } from '../../event.ts'
import type { Data } from '#shared/client/index.ts'
import { fullDate, now } from '../../clock.ts'
import { type Resource, useResource } from '../../resource.ts'
import { MANAGER, client, level } from '../../session.ts'
import { words } from '../../words.ts'
import { ExportMenu } from './exports.tsx'
import { REPORT_PANELS } from './panels.ts'

const EVERY_MS = 60_000

const panels = await Promise.all(
  Object.entries(REPORT_PANELS).map(async ([kind, { least, load }]) => ({
    kind,
    least,
    Shown: await load(),
  })),
)

/** Volunteers may not read rides and emissions. */
export const Reports = () => (level.value >= MANAGER ? <Whole /> : <Report carbon={null} />)

function Whole() {
  const carbon = useResource(client.readCarbon, EVERY_MS, 'carbon')
  return <Report carbon={carbon} />
}

function Report({ carbon }: { readonly carbon: Resource<Data<'readCarbon'>> | null }) {
  const timeline = useResource(client.readTimeline, EVERY_MS, 'timeline')
  const messages = words.value.reports
  return (
    <div class="view reports">
      <header class="row report-head">
        <h1>
          {messages.title} <span class="quiet">{eventName.value}</span>
        </h1>
        <span class="small quiet print-only">
          {messages.made} {fullDate(now.value)}
        </span>
        <span class="spring" />
        <ExportMenu />
      </header>
      {panels.map(({ kind, least, Shown }) =>
        level.value < least ? null : <Shown key={kind} timeline={timeline} carbon={carbon} />,
      )}
    </div>
  )
}
