/** A day's points: what was received when, and what is left out of the sum and why. */
import { useSignal } from '@preact/signals'
import type { Data } from '#shared/client/index.ts'
import { type Column, Table } from '../../../design/table.tsx'
import { clock, number, oneDigit } from '../../clock.ts'
import { PanelFrom } from '../../parts/panel.tsx'
import { useResource } from '../../resource.ts'
import { client } from '../../session.ts'
import { fill, words } from '../../words.ts'
import { Pages } from '../../parts/pages.tsx'
import { Way } from './way.tsx'

type Points = Data<'listUserPoints'>
type Point = Points['items'][number]

const PAGE = 100
/** Received later than this after its time, a point came out of a dead zone. */
const LATE_MS = 120_000

export function PersonPoints({ userId }: { readonly userId: string }) {
  const day = useSignal<string | null>(null)
  const cursor = useSignal<string | undefined>(undefined)
  const points = useResource(
    (signal) =>
      client.listUserPoints(
        {
          userId,
          limit: PAGE,
          ...(day.value === null ? {} : { day: day.value }),
          ...(cursor.value === undefined ? {} : { cursor: cursor.value }),
        },
        { signal },
      ),
    0,
    `points ${userId} ${day.value} ${cursor.value}`,
  )
  const choose = (chosen: string) => {
    cursor.value = undefined
    day.value = chosen
  }
  return (
    <PanelFrom title={words.value.people.tabs.points} kind="inner" from={points}>
      {(page) => (
        <>
          <DayChoice page={page} onChoose={choose} />
          <Way way={page.way} />
          {page.truncated ? <p class="warn-text">{words.value.people.truncated}</p> : null}
          <Table
            caption={page.day ?? ''}
            columns={columns()}
            rows={page.items}
            keyOf={(point) => `${point.kind} ${point.recorded_at} ${point.received_at}`}
            empty={words.value.common.none}
          />
          <Pages
            next={page.next_cursor}
            isFirst={cursor.value === undefined}
            onPage={(to) => (cursor.value = to)}
          />
        </>
      )}
    </PanelFrom>
  )
}

interface ChoiceProps {
  readonly page: Points
  readonly onChoose: (day: string) => void
}

const DayChoice = ({ page, onChoose }: ChoiceProps) => (
  <label class="field">
    <span class="small quiet">{words.value.people.day}</span>
    <select value={page.day ?? ''} onChange={(event) => onChoose(event.currentTarget.value)}>
      {page.day !== null && !page.days.some(({ day }) => day === page.day) ? (
        <option>{page.day}</option>
      ) : null}
      {page.days.map(({ day, points, km }) => (
        <option key={day} value={day}>
          {day} · {number(points)} · {oneDigit(km)} km
        </option>
      ))}
    </select>
  </label>
)

function columns(): Column<Point>[] {
  const said = words.value.people
  return [
    { name: said.point.at, cell: (point) => <At point={point} /> },
    { name: said.point.received, cell: (point) => <Received point={point} /> },
    { name: said.point.kind, cell: ({ kind }) => said.kinds[kind] },
    {
      name: said.point.outcome,
      cell: ({ outcome }) => (
        <span class={outcome === 'counted' || outcome === 'first' ? undefined : 'quiet'}>
          {said.outcomes[outcome]}
        </span>
      ),
    },
    { name: said.point.km, number: true, cell: ({ km }) => (km === 0 ? '' : number(Math.round(km * 1_000))) },
    {
      name: said.point.place,
      cell: ({ lat, lng }) => (
        <span class="small">
          {lat.toFixed(5)}, {lng.toFixed(5)}
        </span>
      ),
    },
    { name: said.point.from, cell: ({ source }) => source ?? '' },
  ]
}

const At = ({ point }: { readonly point: Point }) => (
  <>
    {clock(point.recorded_at)}
    {point.clock_corrected ? <p class="small warn-text">{words.value.people.clockCorrected}</p> : null}
  </>
)

function Received({ point }: { readonly point: Point }) {
  const lateMs = Date.parse(point.received_at) - Date.parse(point.recorded_at)
  const minutes = Math.round(lateMs / 60_000)
  return (
    <>
      {clock(point.received_at)}
      {lateMs > LATE_MS ? (
        <p class="small quiet">{fill(words.value.people.late, { time: `${minutes} min` })}</p>
      ) : null}
      {point.pending ? <p class="small quiet">{words.value.people.waits}</p> : null}
    </>
  )
}
