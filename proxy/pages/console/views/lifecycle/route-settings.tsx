/** The route, its stations, the places along the way and the area: read from a file, or tapped on the map. */
import type { Language } from '#shared/contracts/bot.ts'
import type { PlaceKind, RoutePart } from '#shared/contracts/event-settings.ts'
import { joinLines, lengthOf } from '#shared/core/map/join-lines.ts'
import { createRoute, flatLine, type Route } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { EventSettings } from '../../event.ts'
import { ground, loadGround, sourceOf } from '../../map/ground.ts'
import { MapHint, showHint } from '../../map/crowd-map.tsx'
import { Choice, Field, FileDrop } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { consoleLanguage, inKm, ownName, pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { PLACE_ICONS } from '../../../design/place-icons.ts'
import { Symbol } from '../../../design/symbol.tsx'
import { drawInColours } from '../../../frame/theme.ts'
import { drawPlaces } from '../../../map/draw-places.ts'
import { LAND } from '../../../map/ground.ts'
import { MapFrame } from '../../../map/map-frame.ts'
import { Controls, World } from '../../../map/map-parts.tsx'
import type { Scene } from '../../../map/painter.ts'
import { type Bounds, fitting, latOf, lngOf, scaleOf, worldX, worldY } from '../../../map/projection.ts'
import { routeShapes } from '../../../map/shapes.ts'
import { instantOrNull, localOf, Meanwhile, PartForm, type PartProps, useEditing } from './part-form.tsx'
import type { FileLine, RouteFault } from './route-file.ts'
import {
  fittingLines,
  MAX_PLACES,
  MAX_STATIONS,
  mayBecome,
  pointsOf,
  roomIn,
  type RoutePoint,
  routeToSend,
  withinLimits,
} from './route-points.ts'

const KINDS = Object.keys(PLACE_ICONS) as PlaceKind[]

/** State of the editor. */
interface Draft {
  readonly points: readonly RoutePoint[]
  /** Points of the file, or of the last tap, beyond the limits of a route. */
  readonly leftOut: number
  readonly lines: RoutePart['lines']
  readonly margin: string
  /** Lines of the last read file, and whether they are part of the route. */
  readonly read: readonly (FileLine & { readonly used: boolean })[]
}

export const RoutePanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.route.title} kind="event-route" from={from}>
    {(settings) => <RouteForm from={from} settings={settings} />}
  </PanelFrom>
)

const storedDraft = ({ route: { value } }: EventSettings): Draft => ({
  lines: value.lines,
  points: pointsOf(value),
  leftOut: 0,
  margin: value.margin_km === null ? '' : String(value.margin_km),
  read: [],
})

const linesOf = (read: Draft['read'], points: Draft['points']): RoutePart['lines'] =>
  fittingLines(joinLines(read.filter(({ used }) => used).map(({ places }) => places)), points)

const reversed = (lines: RoutePart['lines']): RoutePart['lines'] =>
  unpackLines(lines)
    .toReversed()
    .map((line) => flatLine(line.toReversed(), 0))

/** Null for lines without length. */
function routeOf(lines: RoutePart['lines']): Route | null {
  try {
    return createRoute(unpackLines(lines))
  } catch {
    return null
  }
}

/** Kilometre by which a point is sorted: a station may belong to another passage than the nearest one. */
const kmOf = (point: RoutePoint, route: Route | null): number =>
  (point.kind === '' ? point.km : null) ?? (route?.project(point).alongM ?? 0) / 1_000

function RouteForm(props: PartProps) {
  const { settings } = props
  const messages = words.value.route
  const fault = useSignal<RouteFault | null>(null)
  const {
    value: shown,
    change,
    overtaken,
    form,
  } = useEditing<Draft>(props, 'route', {
    stored: storedDraft(settings),
    save: ({ lines, points, margin }, version) =>
      client.setEventRoute({
        ...routeToSend(lines, points),
        margin_km: margin.trim() === '' ? null : Number(margin),
        version,
      }),
    saved: messages.saved,
  })
  const route = useMemo(() => routeOf(shown.lines), [shown.lines])
  const { language } = settings.languages.value

  const read = async (file: File) => {
    const { readRouteFile } = await import('./route-file.ts')
    const found = await readRouteFile(file, language)
    fault.value = typeof found === 'string' ? found : null
    if (typeof found === 'string') return
    const lines = found.lines.map((line) => ({ ...line, used: true }))
    // A file with only lines replaces the line and keeps the points.
    const { points, leftOut } = withinLimits(found.points.length > 0 ? found.points : shown.points)
    change({ read: lines, lines: linesOf(lines, points), points, leftOut })
  }
  const use = (at: number, used: boolean) => {
    const lines = shown.read.map((line, i) => (i === at ? { ...line, used } : line))
    change({ read: lines, lines: linesOf(lines, shown.points) })
  }
  const addStation = (lat: number, lng: number) => {
    const added = pointsOf({
      stations: [{ lat, lng, names: { [language]: '' }, km: null, planned_at: null }],
      places: [],
    })
    change(withinLimits([...shown.points, ...added]))
  }
  const stations = shown.points.filter(({ kind }) => kind === '').length
  const places = shown.points.length - stations
  return (
    <PartForm
      title={messages.title}
      part={settings.route}
      form={form}
      class="route-form"
      confirms={false}
      aside={overtaken === null ? null : <Meanwhile text={routeText(settings)} />}
    >
      <FileDrop
        title={messages.drop}
        note={messages.formats}
        accept=".gpx,.kml,.kmz,.geojson,.json,.tcx,.zip"
        onChoose={read}
      />
      <p role="alert" class="problem">
        {fault.value === null ? null : messages.faults[fault.value]}
      </p>
      {shown.read.length < 2 ? null : (
        <fieldset class="route-lines">
          <legend>{messages.lines}</legend>
          {shown.read.map(({ name, places, used }, i) => (
            <label key={i} class="row">
              <input
                type="checkbox"
                checked={used}
                onChange={({ currentTarget }) => use(i, currentTarget.checked)}
              />
              {pair(name || `${i + 1}`, inKm(Math.round(lengthOf(places) / 100) / 10))}
            </label>
          ))}
        </fieldset>
      )}
      <div class="row">
        <strong>
          {route === null
            ? messages.none
            : [
                inKm(Math.round(route.lengthM / 100) / 10),
                messages.stations(stations),
                ...(places === 0 ? [] : [messages.places(places)]),
              ].join(' · ')}
        </strong>
        {route === null ? null : (
          <Button onClick={() => change({ lines: reversed(shown.lines), read: [] })}>
            {messages.reverse}
          </Button>
        )}
      </div>
      {route === null ? null : <p class="small">{`${messages.tap} ${messages.kindNote}`}</p>}
      {shown.leftOut === 0 ? null : (
        <p class="small warn-text">{messages.leftOut(shown.leftOut, MAX_STATIONS, MAX_PLACES)}</p>
      )}
      <RouteMap route={route} lines={shown.lines} points={shown.points} onTap={addStation} />
      <PointRows
        route={route}
        points={shown.points}
        languages={settings.languages.value}
        onChange={(points) => change({ points, leftOut: 0 })}
      />
      {route === null ? null : (
        <Field
          type="number"
          min="0.1"
          max="500"
          label={messages.margin}
          value={shown.margin}
          onType={(margin) => change({ margin })}
        >
          <span class="small">{messages.marginNote}</span>
        </Field>
      )}
    </PartForm>
  )
}

const routeText = ({ route: { value } }: EventSettings): string => {
  const route = routeOf(value.lines)
  return route === null
    ? words.value.route.none
    : `${inKm(Math.round(route.lengthM / 100) / 10)}, ${words.value.route.stations(value.stations.length)}`
}

interface PointsProps {
  readonly route: Route | null
  readonly points: readonly RoutePoint[]
  readonly languages: EventSettings['languages']['value']
  readonly onChange: (points: readonly RoutePoint[]) => void
}

/** A point farther from the route than this (m) may belong elsewhere. */
const FAR_M = 2_000

/** Stations and places in the order of the route; a new one gets its name field focused. */
function PointRows({ route, points, languages, onChange }: PointsProps) {
  const messages = words.value.route
  if (route === null || points.length === 0) return null
  const offered = [...new Set([languages.language, ...languages.languages])]
  /**
   * A row keeps its identity, and the focus, when its point changes its kind. Several points may be at one
   * place.
   */
  const known = new Map<string, number>()
  const keyOf = ({ lat, lng }: RoutePoint): string => {
    const at = `${lat} ${lng}`
    const nth = known.get(at) ?? 0
    known.set(at, nth + 1)
    return `${at} ${nth}`
  }
  const kinds = [['', messages.station] as const, ...KINDS.map((of) => [of, words.value.places[of]] as const)]
  const room = roomIn(points)
  const rows = points
    .map((point, i) => ({ point, i, key: keyOf(point), km: kmOf(point, route) }))
    .sort((a, b) => a.km - b.km)
  return (
    <ol class="field-rows route-stations">
      {rows.map(({ point, i, key }) => {
        const { offM } = route.project(point)
        const changePoint = (by: Partial<RoutePoint>) => onChange(points.with(i, { ...point, ...by }))
        return (
          <li key={key}>
            <Choice
              name="kind"
              label={messages.kind}
              value={point.kind}
              options={kinds.map(([kind, text]) => [kind, text, mayBecome(room, point.kind, kind)] as const)}
              onChoose={(kind) => changePoint({ kind })}
            />
            <NameFields point={point} offered={offered} onChange={changePoint} />
            {point.kind === '' ? (
              <StationFields station={point} route={route} onChange={changePoint} />
            ) : (
              <PlaceFields place={point} onChange={changePoint} />
            )}
            {offM < FAR_M ? null : (
              <span class="small warn-text">{messages.far(inKm(Math.round(offM / 100) / 10))}</span>
            )}
            <Button onClick={() => onChange(points.toSpliced(i, 1))}>{messages.remove}</Button>
          </li>
        )
      })}
    </ol>
  )
}

interface NameFieldsProps {
  readonly point: RoutePoint
  readonly offered: readonly Language[]
  readonly onChange: (by: Pick<RoutePoint, 'names'>) => void
}

/** A station without names requires one in the first language. */
const NameFields = ({ point: { kind, names }, offered, onChange }: NameFieldsProps) => (
  <>
    {offered.map((language, i) => (
      <Field
        key={language}
        name={`${kind === '' ? 'station' : 'place'}-${language}`}
        label={ownName(language)}
        maxLength={100}
        required={kind === '' && i === 0 && Object.values(names).every(isBlank)}
        value={names[language] ?? ''}
        onType={(name) => onChange({ names: { ...names, [language]: name } })}
      />
    ))}
  </>
)

interface StationFieldsProps {
  readonly station: RoutePoint
  readonly route: Route
  readonly onChange: (by: Partial<RoutePoint>) => void
}

const StationFields = ({ station, route, onChange }: StationFieldsProps) => (
  <>
    <Field
      type="number"
      min="0"
      label={words.value.route.km}
      value={Math.round(kmOf(station, route) * 10) / 10}
      onType={(typed) => onChange({ km: typed === '' ? null : Number(typed) })}
    />
    <Field
      type="datetime-local"
      label={words.value.route.planned}
      value={localOf(station.planned_at)}
      onType={(local) => onChange({ planned_at: instantOrNull(local) })}
    />
  </>
)

interface PlaceFieldsProps {
  readonly place: RoutePoint
  readonly onChange: (by: Pick<RoutePoint, 'hours'>) => void
}

const PlaceFields = ({ place, onChange }: PlaceFieldsProps) => (
  <Field
    name="hours"
    label={words.value.route.hours}
    maxLength={60}
    placeholder="06:00–22:00"
    value={place.hours ?? ''}
    onType={(hours) => onChange({ hours })}
  />
)

const isBlank = (name: string): boolean => name.trim() === ''

interface RouteMapProps {
  readonly route: Route | null
  readonly lines: RoutePart['lines']
  readonly points: readonly RoutePoint[]
  readonly onTap: (lat: number, lng: number) => void
}

const MARGIN = { top: 24, right: 60, bottom: 24, left: 24 }
const CLOSEST = 15

/** A tap adds a station. */
function RouteMap(props: RouteMapProps) {
  const { route, lines, points } = props
  const frame = useRef<HTMLElement>(null)
  const camera = useRef<MapFrame | null>(null)
  const bounds = useRef<Bounds>(LAND)
  const latest = useRef(props)
  latest.current = props
  const base = ground.value
  const drawn = useMemo(
    () => (route === null ? null : routeShapes({ lines, km: route.lengthM / 1_000 })),
    [route, lines],
  )
  bounds.current = drawn?.bounds ?? LAND
  const scene: Scene = {
    ground: {
      ...base,
      route: drawn,
      stations: points
        .filter(({ kind }) => kind === '')
        .map((station) => ({
          x: worldX(station.lng),
          y: worldY(station.lat),
          name: station.names[consoleLanguage.value] ?? Object.values(station.names)[0] ?? '',
          km: kmOf(station, route),
        })),
    },
    crowd: null,
    over: useMemo(() => {
      const placed = points.flatMap(({ kind, lat, lng }) =>
        kind === '' ? [] : [{ kind, x: worldX(lng), y: worldY(lat) }],
      )
      return (context, view, colour) => drawPlaces(context, view, placed, colour)
    }, [points]),
  }
  useEffect(() => {
    void loadGround()
    const element = frame.current!
    const made = new MapFrame(element, {
      scene: { ground: ground.peek(), crowd: null },
      home: (size) => fitting(bounds.current, size, MARGIN, CLOSEST),
      onShared: (tried) => showHint(element, tried),
      onTap: (x, y) => {
        if (latest.current.route === null) return
        const scale = scaleOf(made.camera.zoom)
        latest.current.onTap(
          rounded(latOf(made.camera.y + y / scale)),
          rounded(lngOf(made.camera.x + x / scale)),
        )
      },
    })
    camera.current = made
    const stopColouring = drawInColours(() => made.recolour())
    return () => {
      stopColouring()
      made.stop()
    }
  }, [])
  useEffect(() => camera.current?.update(scene))
  useEffect(() => camera.current?.follow(), [drawn])
  return (
    <section class="map" aria-label={words.value.route.map}>
      <section ref={frame} class="map-frame" tabIndex={0} aria-label={words.value.now.mapHelp}>
        <World />
      </section>
      <Controls camera={() => camera.current}>
        <Button icon label={words.value.route.whole} onClick={() => camera.current?.follow()}>
          <Symbol of="route" />
        </Button>
      </Controls>
      <MapHint />
      <Source of={drawn?.bounds ?? null} />
    </section>
  )
}

function Source({ of }: { readonly of: Bounds | null }) {
  const source = sourceOf(of)
  return source === null ? null : (
    <small class="map-source" data-over-map>
      {source}
    </small>
  )
}

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
