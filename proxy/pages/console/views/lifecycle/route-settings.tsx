/** The route, its stations, the places along the way and the area: read from a file, or drawn on the map by taps. */
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
import {
  instantOrNull,
  localOf,
  Meanwhile,
  PartForm,
  type PartProps,
  useEditing,
  withoutEmpty,
} from './part-form.tsx'
import type { FileLine, RouteFault } from './route-file.ts'

type Station = RoutePart['stations'][number]
type PlaceAlong = RoutePart['places'][number]

/** The service takes no more. */
const MAX_STATIONS = 200
const MAX_PLACES = 200

const KINDS = Object.keys(PLACE_ICONS) as PlaceKind[]

interface Points {
  readonly stations: readonly Station[]
  readonly places: readonly PlaceAlong[]
}

/** What the owner is editing. */
interface Draft extends Points {
  readonly lines: RoutePart['lines']
  readonly margin: string
  /** Lines of the file that was read last, and whether they are part of the route. */
  readonly read: readonly (FileLine & { readonly used: boolean })[]
}

export const RoutePanel = ({ from }: { readonly from: Resource<EventSettings> }) => (
  <PanelFrom title={words.value.route.title} kind="event-route" from={from}>
    {(settings) => <RouteForm from={from} settings={settings} />}
  </PanelFrom>
)

const storedDraft = ({ route: { value } }: EventSettings): Draft => ({
  lines: value.lines,
  stations: value.stations,
  places: value.places,
  margin: value.margin_km === null ? '' : String(value.margin_km),
  read: [],
})

/** Details left out of a line (m): the fewest with which it fits into a request. */
const TOLERANCES_M = [2, 5, 10, 20, 40, 80]
/** Characters of the lines in a request; stations and places take the rest of 100 kB. */
const MAX_CHARACTERS = 60_000

function linesOf(read: Draft['read']): RoutePart['lines'] {
  const joined = joinLines(read.filter(({ used }) => used).map(({ places }) => places))
  const flat = TOLERANCES_M.map((metres) => () => joined.map((line) => flatLine(line, metres)))
  const fitting = flat.find((make) => JSON.stringify(make()).length <= MAX_CHARACTERS)
  return (fitting ?? flat.at(-1)!)()
}

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

const kmOf = (station: Station, route: Route | null): number =>
  station.km ?? (route?.project(station).alongM ?? 0) / 1_000

function RouteForm(props: PartProps) {
  const { settings } = props
  const said = words.value.route
  const fault = useSignal<RouteFault | null>(null)
  const {
    value: shown,
    change,
    overtaken,
    form,
  } = useEditing<Draft>(props, 'route', {
    stored: storedDraft(settings),
    save: ({ lines, stations, places, margin }, version) =>
      client.setEventRoute({
        lines,
        stations:
          lines.length === 0
            ? []
            : stations.map(({ names, ...station }) => ({ ...station, names: withoutEmpty(names) })),
        places:
          lines.length === 0
            ? []
            : places.map(({ names, hours, ...place }) => ({
                ...place,
                names: withoutEmpty(names),
                hours: hours?.trim() || null,
              })),
        margin_km: margin.trim() === '' ? null : Number(margin),
        version,
      }),
    saved: said.saved,
  })
  const route = useMemo(() => routeOf(shown.lines), [shown.lines])
  const { language } = settings.languages.value

  const read = async (file: File) => {
    const { readRouteFile } = await import('./route-file.ts')
    const found = await readRouteFile(file, language)
    fault.value = typeof found === 'string' ? found : null
    if (typeof found === 'string') return
    const lines = found.lines.map((line) => ({ ...line, used: true }))
    const stations = found.stations.slice(0, MAX_STATIONS).map(({ plannedAt, names, ...station }, i) => ({
      ...station,
      names: Object.keys(names).length > 0 ? names : { [language]: `${i + 1}` },
      planned_at: plannedAt,
    }))
    const places = found.places.slice(0, MAX_PLACES)
    // A file of lines alone is another line for the same points.
    const points = stations.length + places.length > 0 ? { stations, places } : {}
    change({ read: lines, lines: linesOf(lines), ...points })
  }
  const use = (at: number, used: boolean) => {
    const lines = shown.read.map((line, i) => (i === at ? { ...line, used } : line))
    change({ read: lines, lines: linesOf(lines) })
  }
  const addStation = (lat: number, lng: number) =>
    change({
      stations: [...shown.stations, { lat, lng, names: { [language]: '' }, km: null, planned_at: null }],
    })
  return (
    <PartForm
      title={said.title}
      part={settings.route}
      form={form}
      class="route-form"
      confirms={false}
      aside={overtaken === null ? null : <Meanwhile text={routeText(settings)} />}
    >
      <FileDrop
        title={said.drop}
        note={said.formats}
        accept=".gpx,.kml,.kmz,.geojson,.json,.tcx,.zip"
        onChoose={read}
      />
      <p role="alert" class="problem">
        {fault.value === null ? null : said.faults[fault.value]}
      </p>
      {shown.read.length < 2 ? null : (
        <fieldset class="route-lines">
          <legend>{said.lines}</legend>
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
            ? said.none
            : [
                inKm(Math.round(route.lengthM / 100) / 10),
                said.stations(shown.stations.length),
                ...(shown.places.length === 0 ? [] : [said.places(shown.places.length)]),
              ].join(' · ')}
        </strong>
        {route === null ? null : (
          <Button onClick={() => change({ lines: reversed(shown.lines), read: [] })}>{said.reverse}</Button>
        )}
      </div>
      {route === null ? null : <p class="small">{`${said.tap} ${said.kindNote}`}</p>}
      <RouteMap
        route={route}
        lines={shown.lines}
        stations={shown.stations}
        places={shown.places}
        onTap={addStation}
      />
      <PointRows route={route} points={shown} languages={settings.languages.value} onChange={change} />
      {route === null ? null : (
        <Field
          type="number"
          min="0.1"
          max="500"
          label={said.margin}
          value={shown.margin}
          onType={(margin) => change({ margin })}
        >
          <span class="small">{said.marginNote}</span>
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
  readonly points: Points
  readonly languages: EventSettings['languages']['value']
  readonly onChange: (points: Partial<Points>) => void
}

/** A point farther from the route than this (m) may belong to another place. */
const FAR_M = 2_000

/** Stations and places along the way, in the order of the route; a new one has its name to be typed. */
function PointRows({ route, points: { stations, places }, languages, onChange }: PointsProps) {
  const said = words.value.route
  if (route === null || stations.length + places.length === 0) return null
  const offered = [...new Set([languages.language, ...languages.languages])]
  /** The same row stays where its point becomes another kind, and keeps the focus. Several points may be at one place. */
  const known = new Map<string, number>()
  const keyOf = ({ lat, lng }: Station | PlaceAlong): string => {
    const at = `${lat} ${lng}`
    const nth = known.get(at) ?? 0
    known.set(at, nth + 1)
    return `${at} ${nth}`
  }
  const rows = [
    ...stations.map((station, i) => ({
      key: keyOf(station),
      km: kmOf(station, route),
      fields: (
        <StationFields
          station={station}
          offered={offered}
          route={route}
          onChange={(by) => onChange({ stations: stations.with(i, { ...station, ...by }) })}
        />
      ),
      kind: '' as const,
      offM: route.project(station).offM,
      remove: () => onChange({ stations: stations.toSpliced(i, 1) }),
      become: (kind: PlaceKind | '') =>
        kind !== '' && places.length < MAX_PLACES
          ? onChange({
              stations: stations.toSpliced(i, 1),
              places: [...places, placeOfStation(station, kind)],
            })
          : undefined,
    })),
    ...places.map((place, i) => ({
      key: keyOf(place),
      km: route.project(place).alongM / 1_000,
      fields: (
        <PlaceFields
          place={place}
          offered={offered}
          onChange={(by) => onChange({ places: places.with(i, { ...place, ...by }) })}
        />
      ),
      kind: place.kind,
      offM: route.project(place).offM,
      remove: () => onChange({ places: places.toSpliced(i, 1) }),
      become: (kind: PlaceKind | '') =>
        kind !== ''
          ? onChange({ places: places.with(i, { ...place, kind }) })
          : stations.length < MAX_STATIONS
            ? onChange({ places: places.toSpliced(i, 1), stations: [...stations, stationOfPlace(place)] })
            : undefined,
    })),
  ].sort((a, b) => a.km - b.km)
  return (
    <ol class="field-rows route-stations">
      {rows.map(({ key, fields, kind, offM, become, remove }) => (
        <li key={key}>
          <Choice
            name="kind"
            label={said.kind}
            value={kind}
            options={[
              ['', said.station] as const,
              ...KINDS.map((of) => [of, words.value.places[of]] as const),
            ]}
            onChoose={become}
          />
          {fields}
          {offM < FAR_M ? null : (
            <span class="small warn-text">{said.far(inKm(Math.round(offM / 100) / 10))}</span>
          )}
          <Button onClick={remove}>{said.remove}</Button>
        </li>
      ))}
    </ol>
  )
}

const placeOfStation = ({ lat, lng, names }: Station, kind: PlaceKind): PlaceAlong => ({
  lat,
  lng,
  names,
  kind,
  hours: null,
})

const stationOfPlace = ({ lat, lng, names }: PlaceAlong): Station => ({
  lat,
  lng,
  names,
  km: null,
  planned_at: null,
})

interface NameFieldsProps {
  readonly names: Station['names']
  readonly offered: readonly Language[]
  /** A name in the first language is required where there is none. */
  readonly isNamed?: boolean
  readonly onChange: (by: { readonly names: Station['names'] }) => void
}

const NameFields = ({ names, offered, isNamed = false, onChange }: NameFieldsProps) => (
  <>
    {offered.map((language, i) => (
      <Field
        key={language}
        name={`${isNamed ? 'station' : 'place'}-${language}`}
        label={ownName(language)}
        maxLength={100}
        required={isNamed && i === 0 && Object.values(names).every(isBlank)}
        value={names[language] ?? ''}
        onType={(name) => onChange({ names: { ...names, [language]: name } })}
      />
    ))}
  </>
)

interface StationFieldsProps {
  readonly station: Station
  readonly offered: readonly Language[]
  readonly route: Route
  readonly onChange: (by: Partial<Station>) => void
}

const StationFields = ({ station, offered, route, onChange }: StationFieldsProps) => (
  <>
    <NameFields names={station.names} offered={offered} isNamed onChange={onChange} />
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
  readonly place: PlaceAlong
  readonly offered: readonly Language[]
  readonly onChange: (by: Partial<PlaceAlong>) => void
}

const PlaceFields = ({ place, offered, onChange }: PlaceFieldsProps) => (
  <>
    <NameFields names={place.names} offered={offered} onChange={onChange} />
    <Field
      name="hours"
      label={words.value.route.hours}
      maxLength={60}
      placeholder="06:00–22:00"
      value={place.hours ?? ''}
      onType={(hours) => onChange({ hours })}
    />
  </>
)

const isBlank = (name: string): boolean => name.trim() === ''

interface RouteMapProps {
  readonly route: Route | null
  readonly lines: RoutePart['lines']
  readonly stations: readonly Station[]
  readonly places: readonly PlaceAlong[]
  readonly onTap: (lat: number, lng: number) => void
}

const MARGIN = { top: 24, right: 60, bottom: 24, left: 24 }
const CLOSEST = 15

/** A tap adds a station. */
function RouteMap(props: RouteMapProps) {
  const { route, lines, stations, places } = props
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
      stations: stations.map((station) => ({
        x: worldX(station.lng),
        y: worldY(station.lat),
        name: station.names[consoleLanguage.value] ?? Object.values(station.names)[0] ?? '',
        km: kmOf(station, route),
      })),
    },
    crowd: null,
    over: useMemo(() => {
      const placed = places.map(({ kind, lat, lng }) => ({ kind, x: worldX(lng), y: worldY(lat) }))
      return (context, view, colour) => drawPlaces(context, view, placed, colour)
    }, [places]),
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
