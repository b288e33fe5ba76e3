/** The route, its stations and the area: read from a file, or drawn on the map by taps. */
import type { RoutePart } from '#shared/contracts/event-settings.ts'
import { joinLines, lengthOf } from '#shared/core/map/join-lines.ts'
import { createRoute, flatLine, type Route } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { EventSettings } from '../../event.ts'
import { ground, loadGround, sourceOf } from '../../map/ground.ts'
import { MapHint, showHint } from '../../map/crowd-map.tsx'
import { Field, FileDrop } from '../../parts/fields.tsx'
import { PanelFrom } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { consoleLanguage, inKm, ownName, pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { Symbol } from '../../../design/symbol.tsx'
import { drawInColours } from '../../../frame/theme.ts'
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

/** The service takes no more. */
const MAX_STATIONS = 200

/** What the owner is editing. */
interface Draft {
  readonly lines: RoutePart['lines']
  readonly stations: readonly Station[]
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
  margin: value.margin_km === null ? '' : String(value.margin_km),
  read: [],
})

/** Details left out of a line (m): the fewest with which it fits into a request. */
const TOLERANCES_M = [2, 5, 10, 20, 40, 80]
/** Characters of the lines in a request; the stations take the rest of 100 kB. */
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
    save: ({ lines, stations, margin }, version) =>
      client.setEventRoute({
        lines,
        stations:
          lines.length === 0
            ? []
            : stations.map(({ names, ...station }) => ({ ...station, names: withoutEmpty(names) })),
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
    change({ read: lines, lines: linesOf(lines), stations: stations.length > 0 ? stations : shown.stations })
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
            : `${inKm(Math.round(route.lengthM / 100) / 10)} · ${said.stations(shown.stations.length)}`}
        </strong>
        {route === null ? null : (
          <Button onClick={() => change({ lines: reversed(shown.lines), read: [] })}>{said.reverse}</Button>
        )}
      </div>
      {route === null ? null : <p class="small">{said.tap}</p>}
      <RouteMap route={route} lines={shown.lines} stations={shown.stations} onTap={addStation} />
      <Stations
        route={route}
        stations={shown.stations}
        languages={settings.languages.value}
        onChange={(stations) => change({ stations })}
      />
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

interface StationsProps {
  readonly route: Route | null
  readonly stations: readonly Station[]
  readonly languages: EventSettings['languages']['value']
  readonly onChange: (stations: readonly Station[]) => void
}

/** A station farther from the route than this (m) may belong to another place. */
const FAR_M = 2_000

/** In the order of the route; a new one has its name to be typed. */
function Stations({ route, stations, languages, onChange }: StationsProps) {
  const said = words.value.route
  if (route === null || stations.length === 0) return null
  const offered = [...new Set([languages.language, ...languages.languages])]
  const change = (station: Station, by: Partial<Station> | null) =>
    onChange(
      stations.flatMap((one) => (one !== station ? [one] : by === null ? [] : [{ ...station, ...by }])),
    )
  const ordered = stations.map((station, i) => ({ station, i, km: kmOf(station, route) }))
  return (
    <ol class="field-rows route-stations">
      {ordered
        .sort((a, b) => a.km - b.km)
        .map(({ station, i, km }) => {
          const offM = route.project(station).offM
          return (
            <li key={i}>
              {offered.map((language) => (
                <Field
                  key={language}
                  name={`station-${language}`}
                  label={ownName(language)}
                  maxLength={100}
                  required={language === languages.language && Object.values(station.names).every(isBlank)}
                  value={station.names[language] ?? ''}
                  onType={(name) => change(station, { names: { ...station.names, [language]: name } })}
                />
              ))}
              <Field
                type="number"
                min="0"
                label={said.km}
                value={Math.round(km * 10) / 10}
                onType={(typed) => change(station, { km: typed === '' ? null : Number(typed) })}
              >
                {offM < FAR_M ? null : (
                  <span class="small warn-text">{said.far(inKm(Math.round(offM / 100) / 10))}</span>
                )}
              </Field>
              <Field
                type="datetime-local"
                label={said.planned}
                value={localOf(station.planned_at)}
                onType={(local) => change(station, { planned_at: instantOrNull(local) })}
              />
              <Button onClick={() => change(station, null)}>{said.remove}</Button>
            </li>
          )
        })}
    </ol>
  )
}

const isBlank = (name: string): boolean => name.trim() === ''

interface RouteMapProps {
  readonly route: Route | null
  readonly lines: RoutePart['lines']
  readonly stations: readonly Station[]
  readonly onTap: (lat: number, lng: number) => void
}

const MARGIN = { top: 24, right: 60, bottom: 24, left: 24 }
const CLOSEST = 15

/** A tap adds a station. */
function RouteMap(props: RouteMapProps) {
  const { route, lines, stations } = props
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
