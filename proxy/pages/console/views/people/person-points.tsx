/** A day's points: when they were received, and which are excluded from the sum and why. */
import { Choice } from '../../parts/fields.tsx'
import type { Data } from '#shared/client/index.ts'
import { figure } from '#shared/locales/units.ts'
import { Button } from '../../../design/button.tsx'
import { type Column, Table } from '../../../design/table.tsx'
import { clock, dayName, duration } from '../../clock.ts'
import { CrowdMap } from '../../map/crowd-map.tsx'
import { type Dot, WayLegend } from '../../map/over-map.tsx'
import { PagedList } from '../../parts/paged-list.tsx'
import { client } from '../../session.ts'
import { pair, words, inKm } from '../../words.ts'
import { type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'

type Points = Data<'listUserPoints'>
type Point = Points['items'][number]

const PAGE = 100
/** A point received later than this after its time comes from a dead zone. */
const LATE_MS = 120_000

interface Props {
  readonly userId: string
  readonly onlyOut: Signal<boolean>
}

export function PersonPoints({ userId, onlyOut }: Props) {
  const day = useSignal<string | null>(null)
  const query = {
    userId,
    limit: PAGE,
    ...(day.value === null ? {} : { day: day.value }),
    ...(onlyOut.value ? { only: 'left-out' as const } : {}),
  }
  return (
    <PagedList
      title={words.value.people.tabs.points}
      kind="inner"
      query={query}
      read={client.listUserPoints}
      everyMs={0}
      totalOf={({ total }) => total}
    >
      {(page) => (
        <>
          <DayChoice page={page} onChoose={(chosen) => (day.value = chosen)} />
          <Day key={page.day} page={page} onlyOut={onlyOut} />
        </>
      )}
    </PagedList>
  )
}

const keyOf = (point: Point): string => `${point.kind} ${point.recorded_at} ${point.received_at}`

const isLeftOut = ({ outcome }: Point): boolean => outcome !== 'counted' && outcome !== 'first'

function outcomeText({ outcome }: Point): string {
  const { outcomes, notCounted, reasons } = words.value.people
  if (outcome === 'counted' || outcome === 'first') return outcomes[outcome]
  return pair(notCounted, reasons[outcome])
}

const kindOf = (point: Point): NonNullable<Dot['kind']> =>
  isLeftOut(point) ? 'left-out' : point.kind === 'checkin' ? 'checkin' : 'counted'

const dotOf = (point: Point): Dot => ({
  id: keyOf(point),
  lat: point.lat,
  lng: point.lng,
  name: `${clock(point.recorded_at)} ${outcomeText(point)}`,
  kind: kindOf(point),
})

const NO_CELLS: readonly never[] = []

function Day({ page, onlyOut }: { readonly page: Points } & Pick<Props, 'onlyOut'>) {
  const messages = words.value.people
  const chosen = useSignal<string | null>(null)
  const dots = useMemo(() => page.items.map(dotOf), [page])
  const out = sumOf(page.left_out)
  const choose = (key: string) => (chosen.value = chosen.value === key ? null : key)
  return (
    <>
      <CrowdMap
        cells={NO_CELLS}
        way={page.way}
        dots={dots}
        chosen={chosen.value}
        onDot={choose}
        label={messages.way}
      />
      <WayLegend />
      {page.truncated ? <p class="warn-text">{messages.truncated}</p> : null}
      {out === 0 && !onlyOut.value ? null : (
        <p>
          <Button aria-pressed={onlyOut.value} onClick={() => (onlyOut.value = !onlyOut.value)}>
            {pair(messages.notCounted, figure(out))}
          </Button>
        </p>
      )}
      <Reasons leftOut={page.left_out} />
      <Table
        caption={page.day === null ? '' : dayName(page.day)}
        columns={columns(chosen.value, choose)}
        rows={page.items}
        keyOf={keyOf}
        empty={words.value.common.none}
      />
    </>
  )
}

interface ChoiceProps {
  readonly page: Points
  readonly onChoose: (day: string) => void
}

const DayChoice = ({ page: { day: chosen, days }, onChoose }: ChoiceProps) => (
  <Choice
    bare
    label={words.value.reports.day}
    value={chosen ?? ''}
    options={[
      ...(chosen !== null && !days.some(({ day }) => day === chosen)
        ? [[chosen, dayName(chosen)] as const]
        : []),
      ...days.map(
        ({ day, points, km }) =>
          [day, [dayName(day), words.value.people.points(points), inKm(km)].join(' · ')] as const,
      ),
    ]}
    onChoose={onChoose}
  />
)

function columns(chosen: string | null, choose: (key: string) => void): Column<Point>[] {
  const messages = words.value.people
  return [
    {
      name: messages.point.at,
      cell: (point) => <At point={point} isChosen={keyOf(point) === chosen} onChoose={choose} />,
    },
    {
      name: messages.point.outcome,
      cell: (point) => (
        <span class={isLeftOut(point) ? 'left-out-text' : undefined}>{outcomeText(point)}</span>
      ),
    },
    {
      name: messages.point.km,
      number: true,
      cell: ({ km }) => (km === 0 ? '' : figure(Math.round(km * 1_000))),
    },
    { name: messages.point.received, cell: (point) => <Received point={point} /> },
    { name: messages.point.kind, cell: ({ kind }) => messages.kinds[kind] },
    { name: messages.point.from, cell: ({ source }) => source ?? '' },
    {
      name: messages.point.place,
      cell: ({ lat, lng }) => (
        <span class="small">
          {lat.toFixed(5)}, {lng.toFixed(5)}
        </span>
      ),
    },
  ]
}

interface AtProps {
  readonly point: Point
  readonly isChosen: boolean
  readonly onChoose: (key: string) => void
}

/** The time of a point; a button that selects the point, scrolled into view when the map selects it. */
const At = ({ point, isChosen, onChoose }: AtProps) => (
  <>
    <button
      type="button"
      class="name-button point-time"
      aria-pressed={isChosen}
      ref={(button) => {
        if (isChosen) button?.scrollIntoView({ block: 'nearest' })
      }}
      onClick={() => onChoose(keyOf(point))}
    >
      {clock(point.recorded_at)}
    </button>
    {point.clock_corrected ? <p class="small warn-text">{words.value.people.clockCorrected}</p> : null}
  </>
)

function Received({ point }: { readonly point: Point }) {
  const lateMs = Date.parse(point.received_at) - Date.parse(point.recorded_at)
  return (
    <>
      {clock(point.received_at)}
      {lateMs > LATE_MS ? (
        <p class="small quiet">{`${words.value.people.late} ${duration(lateMs)}`}</p>
      ) : null}
      {point.pending ? <p class="small quiet">{words.value.people.waits}</p> : null}
    </>
  )
}

// Points that are excluded from a pilgrim's daily sum, and why.

/** Everything about one pilgrim. */
export type Detail = Data<'readUser'>

type OutDay = NonNullable<Detail['latest_day']>
type LeftOut = OutDay['left_out']
type Reason = keyof LeftOut

const sumOf = (leftOut: LeftOut): number => Object.values(leftOut).reduce((sum, count) => sum + count, 0)

function Reasons({ leftOut }: { readonly leftOut: LeftOut }) {
  const counts = (Object.entries(leftOut) as [Reason, number][])
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => b - a)
  if (counts.length === 0) return null
  return (
    <ul class="small quiet">
      {counts.map(([reason, count]) => (
        <li key={reason}>
          {figure(count)}: {words.value.people.reasons[reason]}
        </li>
      ))}
    </ul>
  )
}

interface OutProps {
  readonly day: OutDay
  readonly onShow: () => void
}

/** The latest day in a sentence: explains a distance that is shorter than the pilgrim expects. */
export function LeftOutOfDay({ day: { points, left_out, truncated }, onShow }: OutProps) {
  const messages = words.value.people
  const out = sumOf(left_out)
  if (out === 0) return null
  return (
    <section class="left-out">
      <p>
        <strong>
          {pair(messages.notCounted, `${figure(out)} / ${truncated ? '≥ ' : ''}${messages.points(points)}`)}
        </strong>
      </p>
      <Reasons leftOut={left_out} />
      <Button onClick={onShow}>{pair(messages.tabs.points, messages.notCounted)}</Button>
    </section>
  )
}
