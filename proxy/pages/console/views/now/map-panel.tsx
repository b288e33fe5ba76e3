/** The crowd on the map: cells by zoom from the service, and single pilgrims at close zooms. */
import { figure } from '#shared/locales/units.ts'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Data, EventMap, MapCellEntry } from '#shared/client/index.ts'
import { leads } from '#shared/core/rules/palanquin.ts'
import { minute, ago, clock, serviceNow } from '../../clock.ts'
import { moved } from '../../live.ts'
import { type Seen, bboxOf, cellZoom, entriesOf } from '../../map/cells.ts'
import { CrowdLegend, type Dot } from '../../map/over-map.tsx'
import { CrowdMap } from '../../map/crowd-map.tsx'
import { Await, Facts, Panel, Stamp, absenceOf, useStale } from '../../parts/panel.tsx'
import { answered, type Resource, useResource } from '../../resource.ts'
import { client, level, MANAGER } from '../../session.ts'
import { leaderName } from '../../event.ts'
import { inKm, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { place, show } from '../../router.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/**
 * Cells are read again after a movement, at most as often as the first interval, and always after the second.
 */
const SOONEST_MS = 15_000
const CELLS_EVERY_MS = 30_000
/** From this zoom single pilgrims are shown, up to a maximum. */
const PEOPLE_ZOOM = 15
const MOST_PEOPLE = 200
const SETTLED_MS = 400
/** Pilgrims not seen for this long get a hollow mark. */
const OLD_MS = 30 * 60_000

interface Asked {
  readonly zoom: number
  /** Null: everywhere. A map that was not moved shows the whole crowd. */
  readonly bbox: string | null
}

/** The same time yesterday, rounded down to the hour so that the service's cache can answer. */
const dayBefore = (): string =>
  new Date(Math.floor((serviceNow() - DAY_MS) / HOUR_MS) * HOUR_MS).toISOString()

interface Shown extends Seen {
  readonly isMoved: boolean
}

export function MapPanel({ map }: { readonly map: Resource<Overview> }) {
  const asked = useSignal<Asked | null>(null)
  const seen = useSignal<Shown | null>(null)
  useSettled(seen.value, asked)
  const { zoom = 10, bbox = null } = asked.value ?? {}
  const cells = useResource(client.readClusters, CELLS_EVERY_MS, 'cells', {
    since: dayBefore(),
    zoom,
    ...(bbox === null ? {} : { bbox }),
  })
  useFollowed(cells)
  const value = cells.value.value
  // The previous cells stay until those of another part arrive.
  const last = useRef<MapCellEntry[]>([])
  const entries = useMemo(() => (value === null ? last.current : entriesOf(value, 'users')), [value])
  last.current = entries
  const lastAt = useRef<number | null>(null)
  lastAt.current = cells.at.value ?? lastAt.current
  const people = usePeople((seen.value?.zoom ?? 0) >= PEOPLE_ZOOM ? bbox : null)
  // Cells of the previous part count as outdated for this one.
  const stale = useStale(cells, true)
  const marks = useMarks(map)
  const { at = null } = place.value
  const dots = useMemo(() => dotsWith(people?.dots ?? NOBODY, at), [people, at])
  const silent = silentSince(map.value.value)
  const messages = words.value.now
  const total = entries.reduce((sum, [, , , users]) => sum + users, 0)
  return (
    <Panel
      title={messages.map}
      kind="map-panel"
      stale={false}
      stamp={
        value === null && entries.length === 0 ? (
          <span class="stamp">{absenceOf(cells)}</span>
        ) : (
          <Stamp at={lastAt.current} stale={stale} />
        )
      }
    >
      <CrowdMap
        cells={entries}
        marks={marks}
        silentSince={silent}
        walkedKm={map.value.value?.middle?.route_km ?? null}
        dots={dots}
        goTo={at}
        renderCard={(dot) => <PilgrimCard userId={dot.id} seenAt={people?.seenAt.get(dot.id) ?? null} />}
        numbered
        onSeen={(now, isMoved) => (seen.value = { ...now, isMoved })}
        stale={stale}
        label={messages.pilgrims(total)}
      />
      <CrowdLegend of="pilgrims" />
      {silent === null ? null : (
        <output class="notice warning">{messages.leaderSilent(leaderName.value, minute(silent))}</output>
      )}
      {people === null ? null : <PeopleLegend shown={people.dots.length} />}
    </Panel>
  )
}

/** Pilgrims, plus a pilgrim's position that an operator has opened. */
const dotsWith = (people: readonly Dot[], at: Dot | null): readonly Dot[] =>
  at == null ? people : [...people.filter(({ id }) => id !== at.id), at]

/** When the palanquin was last seen, if it is no longer leading. */
const silentSince = (map: Overview | null): string | null =>
  map?.palanquin == null || leads(Date.parse(map.palanquin.seen_at), Date.parse(map.as_of))
    ? null
    : map.palanquin.seen_at

/** Front, middle and tail; the same object until an answer changes them. */
function useMarks(map: Resource<Overview>) {
  const value = map.value.value
  return useMemo(
    () => ({
      palanquin: value?.palanquin ?? null,
      front: value?.front ?? null,
      middle: value?.middle ?? null,
      tail: value?.tail ?? null,
    }),
    [value],
  )
}

function useSettled(seen: Shown | null, asked: Signal<Asked | null>): void {
  useEffect(() => {
    if (seen === null) return undefined
    const timer = setTimeout(() => {
      const next = { zoom: cellZoom(seen.zoom), bbox: seen.isMoved ? bboxOf(seen) : null }
      if (asked.peek()?.zoom !== next.zoom || asked.peek()?.bbox !== next.bbox) asked.value = next
    }, SETTLED_MS)
    return () => clearTimeout(timer)
  }, [seen, asked])
}

function useFollowed({ at, reload }: Resource<unknown>): void {
  const change = moved.value
  const seen = useRef(change)
  useEffect(() => {
    // A new resource reads by itself.
    if (seen.current === change) return undefined
    seen.current = change
    const waitMs = Math.max(0, SOONEST_MS - (serviceNow() - (at.peek() ?? 0)))
    const timer = setTimeout(() => void reload(), waitMs)
    return () => clearTimeout(timer)
  }, [change, at, reload])
}

interface People {
  readonly dots: readonly Dot[]
  /** Time of the last sighting, by the dot's id. */
  readonly seenAt: ReadonlyMap<string, string>
}

const NOBODY: readonly Dot[] = []

/** Single pilgrims in a part of the map; null at far zooms. */
function usePeople(bbox: string | null): People | null {
  const people = useResource(
    async (part: string | null, options) =>
      part === null || level.value < MANAGER
        ? answered(null)
        : client.readMap({ bbox: part, limit: MOST_PEOPLE }, options),
    bbox === null ? 0 : CELLS_EVERY_MS,
    'people',
    bbox,
  ).value.value
  return useMemo(() => (people === null ? null : peopleOf(people)), [people])
}

function peopleOf({ points }: Data<'readMap'>): People {
  const oldFrom = serviceNow() - OLD_MS
  return {
    seenAt: new Map(points.map(({ id, userId, recorded_at }) => [userId ?? id, recorded_at])),
    dots: points.map(({ id, lat, lng, userId, display_name, recorded_at }) => ({
      id: userId ?? id,
      lat,
      lng,
      name: display_name ?? userId ?? id,
      note: `${words.value.now.seen.at} ${minute(recorded_at)}`,
      old: Date.parse(recorded_at) < oldFrom,
    })),
  }
}

const PeopleLegend = ({ shown }: { readonly shown: number }) => {
  const messages = words.value.now
  return (
    <>
      <ul class="map-legend small">
        <li>
          <span class="sign person" aria-hidden="true" />
          {messages.seen.lately}
        </li>
        <li>
          <span class="sign person old" aria-hidden="true" />
          {messages.seen.earlier}
        </li>
      </ul>
      {shown < MOST_PEOPLE ? null : <p class="small warn-text">{messages.morePeople}</p>}
    </>
  )
}

const CARD_EVERY_MS = 60_000
/** The search matches names too, and a name may contain this id. */
const FOUND = 5

interface Props {
  readonly userId: string
  /** Time of the position on the map. */
  readonly seenAt: string | null
}

/**
 * Data about a pilgrim from the list. Opening the pilgrim would show everything, and be written to the audit
 * log.
 */
function PilgrimCard({ userId, seenAt }: Props) {
  const messages = words.value.people
  const found = useResource(client.listUsers, CARD_EVERY_MS, 'pilgrim-card', { search: userId, limit: FOUND })
  return (
    <>
      {seenAt === null ? null : (
        <Facts
          of="card-rows small"
          facts={[
            [
              messages.columns.seen,
              <>
                {ago(seenAt)} <span class="quiet">{clock(seenAt)}</span>
              </>,
            ],
          ]}
        />
      )}
      <Await from={found}>
        {({ items }) => <Figures row={items.find((row) => row.userId === userId) ?? null} />}
      </Await>
      <Button onClick={() => show('people', { person: userId })}>{words.value.now.openPilgrim}</Button>
    </>
  )
}

type Row = Data<'listUsers'>['items'][number]

function Figures({ row }: { readonly row: Row | null }) {
  const messages = words.value.people
  if (row === null) return <p class="quiet">{messages.notFound}</p>
  return (
    <Facts
      of="card-rows small"
      facts={[
        [messages.distance, `${inKm(row.km)} · ${messages.columns.level} ${row.level}`],
        [messages.columns.checkins, figure(row.checkins)],
      ]}
    />
  )
}

// The public map in the console: totals, front, middle and tail. Its cells are not shown, so only changes
// are read.

const MAP_EVERY_MS = 10_000

export type Overview = Omit<EventMap, 'cells' | 'since'>

/** Reads the whole map first, then only changes. */
export function useEventMap(): Resource<Overview> {
  const known = useRef<Overview | null>(null)
  return useResource<Overview, object>(
    async (_, options) => {
      const last = known.current
      const answer = await client.readEventMap(last === null ? {} : { since: String(last.version) }, options)
      if (!answer.ok) return answer
      const { cells: _cells, since: _since, ...changed } = answer.data
      const data = { ...last, ...changed } as Overview
      known.current = data
      return { ...answer, data }
    },
    MAP_EVERY_MS,
    'event-map',
  )
}
