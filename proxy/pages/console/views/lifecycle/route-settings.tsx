/** The route, its stations and the area: read from a file, or drawn on the map by taps. */
import type { RoutePart } from '#shared/contracts/event-settings.ts'
import { joinLines, lengthOf } from '#shared/core/map/join-lines.ts'
import { createRoute, flatLine, type Route } from '#shared/core/map/walking-route.ts'
import { unpackLines } from '#shared/core/rules/along-route.ts'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { type EventSettings, readEvent } from '../../event.ts'
import { ground, loadGround, mapSource } from '../../map/ground.ts'
import { MapHint, showHint } from '../../map/crowd-map.tsx'
import { warn } from '../../parts/actions.tsx'
import { Field } from '../../parts/fields.tsx'
import { PanelFrom, refusalOf } from '../../parts/panel.tsx'
import type { Resource } from '../../resource.ts'
import { client } from '../../session.ts'
import { consoleLanguage, inKm, ownName, pair, words } from '../../words.ts'
import { Button } from '../../../design/button.tsx'
import { Symbol } from '../../../design/symbol.tsx'
import { showToast } from '../../../design/toast.tsx'
import { pageWords } from '../../../frame/language.ts'
import { drawInColours } from '../../../frame/theme.ts'
import { LAND } from '../../../map/ground.ts'
import { MapFrame } from '../../../map/map-frame.ts'
import { Controls, World } from '../../../map/map-parts.tsx'
import type { Scene } from '../../../map/painter.ts'
import { type Bounds, fitting, latOf, lngOf, scaleOf, worldX, worldY } from '../../../map/projection.ts'
import { routeShapes } from '../../../map/shapes.ts'
import { Changed, instantOrNull, localOf, Meanwhile, TOAST_MS } from './changed.tsx'
import type { FileLine, RouteFault } from './route-file.ts'

type Station = RoutePart['stations'][number]

/** The service takes no more. */
const MAX_STATIONS = 200

/** What the owner is editing. */
interface Draft {
  readonly version: number
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

const storedDraft = ({ version, route: { value } }: EventSettings): Draft => ({
  version,
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

interface FormProps {
  readonly from: Resource<EventSettings>
  readonly settings: EventSettings
}

function RouteForm({ from, settings }: FormProps) {
  const said = words.value.route
  const draft = useSignal<Draft | null>(null)
  const fault = useSignal<RouteFault | null>(null)
  const isRefused = useSignal(false)
  const busy = useSignal(false)
  const shown = draft.value ?? storedDraft(settings)
  const route = useMemo(() => routeOf(shown.lines), [shown.lines])
  const edit = (change: Partial<Draft>) => (draft.value = { ...shown, ...change })
  const { language } = settings.languages.value

  const read = async (file: File | undefined) => {
    if (file === undefined) return
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
    edit({ read: lines, lines: linesOf(lines), stations: stations.length > 0 ? stations : shown.stations })
  }
  const use = (at: number, used: boolean) => {
    const lines = shown.read.map((line, i) => (i === at ? { ...line, used } : line))
    edit({ read: lines, lines: linesOf(lines) })
  }
  const addStation = (lat: number, lng: number) =>
    edit({
      stations: [...shown.stations, { lat, lng, names: { [language]: '' }, km: null, planned_at: null }],
    })
  const close = () => {
    draft.value = null
    fault.value = null
    isRefused.value = false
  }
  const submit = async () => {
    busy.value = true
    const answer = await client.setEventRoute({
      lines: shown.lines,
      stations: shown.lines.length === 0 ? [] : shown.stations.map(withoutEmptyNames),
      margin_km: shown.margin.trim() === '' ? null : Number(shown.margin),
      version: shown.version,
    })
    await from.reload()
    busy.value = false
    if (answer.ok) {
      close()
      showToast(said.saved, { forMs: TOAST_MS })
      await readEvent()
      return
    }
    warn(answer.error, refusalOf)
    const fresh = from.value.value
    if (draft.value === null || fresh === null || answer.error.status !== 409) return
    isRefused.value = true
    draft.value = { ...draft.value, version: fresh.version }
  }
  return (
    <form
      class="route-form"
      aria-label={said.title}
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void submit()
      }}
    >
      <label class="drop">
        <strong>{said.drop}</strong>
        <span class="small">{said.formats}</span>
        <input
          type="file"
          accept=".gpx,.kml,.kmz,.geojson,.json,.tcx,.zip"
          onChange={({ currentTarget }) => {
            void read(currentTarget.files?.[0])
            // The same file can be chosen again once it was changed.
            currentTarget.value = ''
          }}
        />
      </label>
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
          <Button onClick={() => edit({ lines: reversed(shown.lines), read: [] })}>{said.reverse}</Button>
        )}
      </div>
      {route === null ? null : <p class="small">{said.tap}</p>}
      <RouteMap route={route} lines={shown.lines} stations={shown.stations} onTap={addStation} />
      <Stations
        route={route}
        stations={shown.stations}
        languages={settings.languages.value}
        onChange={(stations) => edit({ stations })}
      />
      {route === null ? null : (
        <Field
          type="number"
          min="0.1"
          max="500"
          label={said.margin}
          value={shown.margin}
          onType={(margin) => edit({ margin })}
        >
          <span class="small">{said.marginNote}</span>
        </Field>
      )}
      <Changed settings={settings.route}>
        {isRefused.value ? <Meanwhile text={routeText(settings)} /> : null}
        {draft.value === null ? null : (
          <>
            <Button kind="primary" type="submit" busy={busy.value}>
              {words.value.common.save}
            </Button>
            <Button onClick={close}>{pageWords.value.cancel}</Button>
          </>
        )}
      </Changed>
    </form>
  )
}

const routeText = ({ route: { value } }: EventSettings): string => {
  const route = routeOf(value.lines)
  return route === null
    ? words.value.route.none
    : `${inKm(Math.round(route.lengthM / 100) / 10)}, ${words.value.route.stations(value.stations.length)}`
}

const withoutEmptyNames = ({ names, ...station }: Station): Station => ({
  ...station,
  names: Object.fromEntries(Object.entries(names).filter(([, name]) => name.trim() !== '')),
})

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
    <ol class="route-stations">
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
      <Source />
    </section>
  )
}

const Source = (): ComponentChildren =>
  mapSource.value === null ? null : (
    <small class="map-source" data-over-map>
      {mapSource.value}
    </small>
  )

const rounded = (degrees: number): number => Math.round(degrees * 1e5) / 1e5
